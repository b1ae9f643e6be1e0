"""Numbers that are none, too small, too large or oddly written: refused by name, wherever they are typed."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.urls import reverse

from heatmaps.models import Dataset, Release

ODD = {
    "subnormal": "5e-324",
    "smaller than any": "1e-400",
    "larger than any": "1e400",
    "a bomb": "1e9999999",
    "a bomb below": "1e-9999999",
    "not a number": "NaN",
    "signalling": "sNaN",
    "infinite": "Infinity",
    "minus infinite": "-inf",
    "nothing": "",
    "blank": " ",
    "zero": "0",
    "minus zero": "-0",
    "negative": "-1",
    "Arabic digits": "٣",
    "full-width digits": "１",
    "mathematical digits": "𝟏",
    "superscript": "1²",
    "a fraction sign": "½",
    "a Roman numeral": "Ⅳ",
    "underscore": "1_0",
    "hexadecimal": "0x1",
    "octal": "0o1",
    "binary float": "0x1p-1074",
    "a comma": "0,5",
    "thousands": "1,000",
    "a fraction": "1/2",
    "two points": "1.0.0",
    "half an exponent": "1e",
    "complex": "1j",
    "a formula": "1+1",
    "a minus that is none": "\u2212\u0031",
    "a space that is none": "\u00a01",
    "a zero width space": "1\u200b",
    "a line": "1\n",
    "a byte": "1\x00",
    "very long": "9" * 100_000,
    "long and small": "0." + "0" * 100_000 + "1",
}
BLANKS = {"a space before": " 1", "a space behind": "1 ", "a tab": "\t1"}
ODD_JSON = {
    str(value): value for value in (0, -1, 3, 17, 2.5, 2**31, 2**64, 10**300, 10**400, None, True, [16], {})
}
ZEROES = {"0", "-0"}
TINY = {"5e-324", "1e-400", "1e-9999999"}  # as a side of a box, where floats are enough
BOMB_SECONDS = 60  # more than all refusals take on any machine; ten million digits would take longer

pytestmark = pytest.mark.timeout(BOMB_SECONDS)


def each(values, check):
    """Check every value in a transaction that is rolled back; the names of those that failed, and why."""
    failed = {}
    for name, value in values.items():
        with transaction.atomic():
            try:
                check(value)
            except (AssertionError, pytest.fail.Exception) as error:
                failed[name] = str(error)[:200]
            transaction.set_rollback(True)
    assert not failed


def refused(answer):
    assert answer.status_code in {400, 422}
    assert len(answer.content) < 2000
    assert answer.json()["errors"]
    assert not Release.objects.exists()


# --- the API: what is a string is read as mechanisms.check.exact_decimal reads it ------------------------


@pytest.mark.parametrize("name", ["quotes", "releases"])
def test_the_api_refuses_an_epsilon(api, dataset, question, name):
    analyst = api("analyst")

    def check(text):
        refused(analyst.send("POST", name, dataset.slug, body=question(epsilon=text)))

    each(ODD | BLANKS, check)


@pytest.mark.parametrize("text", ["+1", "1.", ".5e1", "1E0", "0001", "1e-3"])
def test_the_api_takes_what_is_a_number(api, dataset, question, text):
    answer = api("analyst").send("POST", "quotes", dataset.slug, body=question(epsilon=text))

    assert answer.status_code == 200


def test_the_api_refuses_a_resolution(api, dataset, question):
    analyst = api("analyst")

    def check(value):
        refused(analyst.send("POST", "releases", dataset.slug, body=question(resolution=value)))

    each(ODD | ODD_JSON, check)


@pytest.mark.parametrize("name", ["width", "decay"])
def test_the_api_refuses_a_parameter(api, dataset, question, name):
    analyst = api("analyst")

    def check(text):
        body = question(parameters={name: text})
        refused(analyst.send("POST", "releases", dataset.slug, body=body))

    each(numbers_but(ZEROES if name == "decay" else ()), check)


@pytest.mark.parametrize("name", ["presence", "delta"])
def test_the_api_refuses_a_limit(api, dataset, name):
    steward = api("steward")

    def check(text):
        body = {"limits": {name: text}, "reason": "agreed"}
        answer = steward.send("PATCH", "budget", dataset.slug, body=body, **{"if-match": "*"})
        assert answer.status_code in {400, 422}
        assert dataset.accounts.get(kind="presence").limit == 2 * 10**12

    each(numbers_but(ZEROES), check)


@pytest.mark.parametrize("at", range(4))
def test_the_api_refuses_a_box(api, people, at):
    steward = api("steward")
    new = {"slug": "town", "title": "Town", "relation": "add_remove", "limits": {"presence": "1"}}

    def check(value):
        box = [0, 0, 1, 1]
        box[at] = value
        answer = steward.send("POST", "datasets", body=new | {"bbox": box})
        assert answer.status_code in {400, 422}
        assert not Dataset.objects.exists()

    each(ODD | {"huge": 10**400, "far": 181, "null": None, "true": True, "a list": [0]}, check)


# --- the pages: a form strips blanks around what is typed ------------------------------------------------


@pytest.mark.parametrize("field", ["epsilon", "resolution", "sparse-emd.width", "sparse-emd.decay"])
def test_the_page_refuses_a_number(client_of, dataset, question, field):
    analyst, address = client_of("analyst"), reverse("release-new", args=[dataset.slug])
    plain = {name: value for name, value in question().items() if name != "parameters"} | {"key": "k"}
    own = field.startswith("sparse-emd.")  # left empty, it has its default

    def check(text):
        answer = analyst.post(address, plain | {field: text})
        if text.strip() in ({"1", "", *ZEROES} if own else {"1"}) and answer.status_code == 302:
            charged = Release.objects.get().charges.get(account__kind="presence").amount
            assert charged == (10**12 if field == "epsilon" else 5 * 10**11)
            return
        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == [field]
        assert not Release.objects.exists()

    each(ODD, check)


@pytest.mark.parametrize("field", ["west", "north", "presence_limit", "delta_limit", "expected_persons"])
def test_the_page_makes_no_dataset_of_it(client_of, people, field):
    steward, address = client_of("steward"), reverse("dataset-new")
    typed = {"title": "Town", "slug": "town", "west": "-2", "south": "-1", "east": "1", "north": "1"}
    typed |= {"relation": "add_remove", "presence_limit": "1", "delta_limit": "0", "expected_persons": "9"}
    numbers = {"1", *ZEROES} | ({"-1", *TINY, ODD["long and small"]} if field in {"west", "north"} else {""})

    def check(text):
        answer = steward.post(address, typed | {field: text})
        assert answer.status_code in ({302, 422} if text.strip() in numbers else {422})

    each(ODD, check)


# --- the command -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--epsilon", "--delta", "--resolution", "--expected-persons"])
def test_the_command_refuses_a_number(db, tmp_path, option):
    texts = numbers_but(ZEROES if option == "--delta" else ()) | BLANKS
    each(texts, lambda text: assert_refused(tmp_path, {option: text}))


@pytest.mark.parametrize("name", ["width", "decay"])
def test_the_command_refuses_a_parameter(db, tmp_path, name):
    texts = numbers_but(ZEROES if name == "decay" else ())
    each(texts, lambda text: assert_refused(tmp_path, {"--parameter": f"{name}={text}"}))


@pytest.mark.parametrize("at", range(4))
def test_the_command_refuses_a_box(db, tmp_path, at):
    def check(text):
        sides = ["1", "1", "2", "2"]
        sides[at] = text
        assert_refused(tmp_path, {"--bbox": ",".join(sides)})

    each(numbers_but({*ZEROES, *TINY, "-1"} if at < 2 else ()), check)


def assert_refused(folder, changes):
    path, output = folder / "city.csv", folder / "map.npy"
    path.write_text("user,lat,lon\na,1.5,1.5\n")
    plain = {"--bbox": "1,1,2,2", "--mechanism": "sparse-emd", "--epsilon": "1", "--resolution": "4"}
    options = [f"{name}={value}" for name, value in (plain | changes).items()]
    with pytest.raises(CommandError) as caught:
        call_command("heatmap", str(path), *options, "--output", str(output), stdout=io.StringIO())
    assert len(str(caught.value)) < 1000
    assert not output.exists()


def numbers_but(allowed):
    """All odd texts but those that are numbers at that place."""
    return {name: text for name, text in ODD.items() if text not in allowed}
