"""A number of JSON is one person however it is spelled; datasets made before keep their rule."""

import io
import json
from decimal import Decimal
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatmaps import datasets, masses
from heatmaps.ingest import opt_outs, uploads
from heatmaps.ingest.formats.file_points import read_points
from heatmaps.ingest.formats.reader import read_checkins
from heatmaps.ledger.verification import verify
from heatmaps.models import CheckIn, Dataset, UploadState
from heatmaps.pseudonyms.user_names import MOST_DIGITS, number
from tests.ingest.conftest import SQLITE, row_of_before

TWELVE = ["12", "12.0", "1.2e1", "120E-1", "0.012e+3"]
LARGE = ["12345678901234567890", "1.2345678901234567890e19", "12345678901234567890.000"]
ZERO = ["0", "-0", "0.0", "-0e999999999999"]


def ndjson(users):
    """A row for each user, as JSON writes it, at one place."""
    return "".join(f'{{"user": {user}, "lat": 41.5, "lon": 2.5}}\n' for user in users)


def names(users, **how):
    [batch] = read_checkins(io.BytesIO(ndjson(users).encode()), **how)
    return batch.users


@pytest.mark.parametrize("spelled", [TWELVE, LARGE, ZERO, ["-1.50", "-15e-1"], ["0.001", "1E-3"]])
def test_a_number_of_json_has_one_name(spelled):
    assert len(set(names(spelled))) == 1
    assert names(spelled, exact_numbers=False) == spelled


def test_numbers_that_differ_in_the_last_digit_have_different_names():
    users = [
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.5",
        "-9007199254740993",
        "0.1",
        "0.10000000000000001",
    ]
    assert names(users) == users


def test_text_of_json_stays_as_it_is():
    assert names(['"12.0"', '"1.2e1"', '"-0"', "12", '" 12 "']) == ["12.0", "1.2e1", "-0", "12", "12"]


def test_a_number_too_long_to_write_out_is_a_rejected_row():
    users = ["1e399", "1e400", "1e-400", "1e-401", "1e99999999999999999999", "7", "8" * 401, "-" + "9" * 400]
    [batch] = read_checkins(io.BytesIO(ndjson(users).encode()))
    assert [len(name) for name in batch.users] == [MOST_DIGITS, MOST_DIGITS + 2, 1, MOST_DIGITS + 1]
    assert len(batch.rejected) == 4
    assert {bad.reason for bad in batch.rejected} == {f"user is a number of more than {MOST_DIGITS} digits"}


digits = st.text("0123456789", min_size=1, max_size=25)


@st.composite
def decimals(draw):
    """A text that JSON takes for a number."""
    whole = draw(digits).lstrip("0") or "0"
    fraction = f".{draw(digits)}" if draw(st.booleans()) else ""
    exponent = (
        f"{draw(st.sampled_from('eE'))}{draw(st.integers(-40, 40)):{draw(st.sampled_from(['', '+', '04']))}}"
    )
    return f"{draw(st.sampled_from(['', '-']))}{whole}{fraction}{exponent if draw(st.booleans()) else ''}"


def spelled_otherwise(text, shift, zeros):
    """The same number, its point moved and zeros put behind it."""
    sign, figures, exponent = Decimal(text).as_tuple()
    moved = f"{''.join(map(str, figures))}.{'0' * zeros or '0'}e{exponent}"
    if 0 < shift < len(figures):
        joined = "".join(map(str, figures))
        moved = f"{joined[:-shift]}.{joined[-shift:]}{'0' * zeros}E{exponent + shift:+d}"
    return f"{'-' if sign else ''}{moved}"


@given(decimals(), decimals(), st.integers(0, 30), st.integers(0, 5))
@settings(max_examples=200)
def test_names_are_equal_where_numbers_are(one, other, shift, zeros):
    json.loads(one)
    assert (number(one) == number(other)) == (Fraction(one) == Fraction(other))
    assert number(spelled_otherwise(one, shift, zeros)) == number(one)
    assert Fraction(number(one)) == Fraction(one)
    assert number(number(one)) == number(one)


def weight(dataset, version):
    return masses.read(dataset, version, level=8, unit=2**20).masses.sum() / 2**20


def before(dataset, form):
    """As an installation has it that was made before."""
    Dataset.objects.filter(pk=dataset.pk).update(user_form=form)
    dataset.refresh_from_db()


def persons():
    return CheckIn.objects.values("person", "person_rest").distinct().count()


def test_one_person_weighs_one(dataset, upload, steward):
    version = upload(dataset, ndjson([*TWELVE, '"12"'])).version
    assert (persons(), weight(dataset, version)) == (1, 1)
    version = upload(dataset, [("12", "", 41.5, 2.5)]).version  # in another format
    assert (persons(), weight(dataset, version)) == (1, 1)
    assert opt_outs.opt_out(steward, dataset, ["12"]) == 1
    assert weight(dataset, uploads.advance(steward, dataset)) == 0


@SQLITE
@pytest.mark.parametrize("form", ["nfc", ""])
def test_a_dataset_from_before_keeps_its_persons_and_opt_outs(make_dataset, upload, steward, form):
    dataset = make_dataset()
    before(dataset, form)
    version = upload(dataset, ndjson(TWELVE)).version
    assert (persons(), weight(dataset, version)) == (len(TWELVE), len(TWELVE))
    assert opt_outs.opt_out(steward, dataset, ["12.0"]) == 1
    assert weight(dataset, uploads.advance(steward, dataset)) == len(TWELVE) - 1


@SQLITE
@pytest.mark.parametrize("content", [ndjson(["12.0"]), "user,lat,lon\n12.0,41.5,2.5\n"], ids=["json", "csv"])
def test_an_opt_out_holds_for_what_a_spelling_may_mean(dataset, upload, steward, content):
    upload(dataset, content)
    entry, is_new = opt_outs.enter(steward, dataset, "12.0")
    assert is_new
    assert weight(dataset, uploads.advance(steward, dataset)) == 0
    assert opt_outs.enter(steward, dataset, "12.0") == (entry, False)
    assert opt_outs.take_back(steward, dataset, ["12.0"]) == 2
    assert weight(dataset, uploads.advance(steward, dataset)) == 1


@SQLITE
def test_an_opt_out_of_zeros_before_a_number_is_of_that_name_alone(dataset, steward):
    assert opt_outs.opt_out(steward, dataset, ["007", "+7", "7.", ".5"]) == 4


def facts_of(dataset):
    return json.loads(dataset.events.get(sequence=1).after)["dataset"]


@SQLITE
def test_the_ledger_says_the_rule_of_new_datasets_alone(make_dataset, monkeypatch):
    new = make_dataset()
    assert facts_of(new)["user_form"] == "decimal"
    assert verify(new).ok
    before(new, "nfc")
    assert "user_form" in verify(new).problem

    monkeypatch.setattr(datasets, "_row", partial(row_of_before, datasets._row))
    old = make_dataset("old")
    assert "user_form" not in facts_of(old)
    assert verify(old).ok


@SQLITE
def test_texts_that_spell_one_number_are_two_persons_and_a_warning(dataset, upload):
    row = upload(dataset, [(name, "", 41.5, 2.5) for name in ("12", "12.0", "8")])
    assert (row.state, row.names_alike, persons()) == (UploadState.READY, 1, 3)


def test_files_without_a_database_have_one_person(tmp_path):
    path = tmp_path / "numbers.ndjson"
    path.write_text(ndjson(TWELVE))
    assert set(read_points([path], max_rejected_share=Fraction(0)).persons.tolist()) == {0}
