"""What the pages of zones and of places share: things are gathered, then quoted, then paid."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps.models import Dataset, Event, Release
from heatmaps.releases.engine import draw_of
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.request import Plan
from mechanisms.guarantee import Relation
from mechanisms.space.geojson import LONGEST_TEXT
from tests.geojson import NAME
from tests.pages.questions import BOTH
from tests.services import seed
from tests.services.draws import carry_out

DAY = {"wish1_part": "1/30", "wish1_distance_m": "60000", "wish1_epsilon": "0.2"}
ALL = {"wish2_part": "1", "wish2_distance_m": "3000", "wish2_epsilon": "0.3"}


@pytest.fixture(params=BOTH)
def asked(request):
    return BOTH[request.param]


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=2000, limits={"record": "90", "radius": "9"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def address(panel, asked):
    return reverse(asked.page, args=[panel.slug])


@pytest.fixture
def send(client_of, address, asked):
    """The question about one thing that is in the text, changed."""

    def send(act="quote", **typed):
        data = {"epsilon": "1", "act": act, asked.parameter: asked.text} | typed
        return client_of("analyst").post(address, data)

    return send


@pytest.fixture
def file(asked):
    return SimpleUploadedFile("things.geojson", asked.text.encode())


def names(answer):
    return [one.name for one in answer.context["gathered"]]


def test_boxes_files_and_text_are_gathered_into_one_text(send, asked, file):
    added = send("add", **{asked.parameter: "", asked.name_box: "Harbour"}, **asked.boxes)
    assert added.status_code == 200
    assert names(added) == ["Harbour"]
    assert {added.context["form"][box].value() for box in (*asked.boxes, asked.name_box)} == {None}
    shown = added.context["form"][asked.parameter].value()
    (feature,) = json.loads(shown)["features"]
    assert feature["properties"] == {"name": "Harbour"}
    assert {float(degrees) for degrees in asked.boxes.values()} <= set(numbers_in(shown))
    both = send("add", **{asked.parameter: added.context["form"][asked.parameter].value()}, file=file)
    assert names(both) == ["Harbour", NAME]
    assert "<b>" not in both.content.decode()
    assert not Event.objects.filter(kind__contains="release").exists()


def numbers_in(text):
    return [float(number) for number in re.findall(r"[-0-9.]+", text)]


def test_what_was_gathered_is_shown_in_degrees_and_read_as_it_was(send, asked):
    exact = BOTH[asked.parameter].text.replace("0.5", "0.5000001")
    shown = send("add", **{asked.parameter: exact}).context["form"][asked.parameter].value()
    again = send("add", **{asked.parameter: shown})
    assert again.context["form"][asked.parameter].value() == shown
    assert [repr(one) for one in again.context["gathered"]] == [
        repr(one) for one in send("add", **{asked.parameter: exact}).context["gathered"]
    ]


def test_enter_adds_says_so_and_keeps_what_was_typed(client_of, send, address):
    """Browsers press the first button of a form that sends it."""
    page = client_of("analyst").get(address).content.decode()
    form = re.search(r'<form[^>]*id="release-form".*?</form>', page, re.DOTALL).group()
    first = next(button for button in re.findall(r"<button[^>]*>", form) if "type=" not in button)
    assert 'name="act" value="add"' in first
    typed = {"epsilon": "0.125", "since": "2026-03-01", "wish1_part": "1/30"}
    shown = send("add", **typed)
    assert shown.context["form"]["epsilon"].value() == "0.125"
    assert shown.context["form"]["since"].value() == "2026-03-01"
    assert shown.context["wish_form"]["wish1_part"].value() == "1/30"


def test_a_demo_says_that_it_is_one(client_of, panel, address):
    analyst = client_of("analyst")
    for is_demo in (False, True):
        Dataset.objects.filter(pk=panel.pk).update(is_demo=is_demo)
        assert ("This is a demo." in analyst.get(address).content.decode()) == is_demo


def test_a_chosen_file_is_kept_where_something_else_is_wrong(send, asked, file):
    refused = send("add", **{asked.parameter: ""}, epsilon="", file=file)
    assert refused.status_code == 422
    kept = refused.context["form"][asked.parameter].value()
    assert names(send("add", **{asked.parameter: kept})) == [NAME]


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "{"}, "text"),
        ({"epsilon": "x"}, "epsilon"),
    ],
)
def test_errors_are_beside_their_fields(send, asked, typed, field):
    named = {"text": asked.parameter}
    answer = send(**{named.get(name, name): value for name, value in typed.items()})
    assert answer.status_code == 422
    assert answer.context["form"].errors[named.get(field, field)]
    assert answer.context["quote"] is None


def test_a_name_that_is_none_is_refused_beside_its_box(send, asked):
    for name in ("x" * 61, "two\u2028lines", "hid\u202eden"):
        answer = send("add", **{asked.name_box: name}, **asked.boxes)
        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == [asked.name_box]


FILES = {b"\xff": "GeoJSON in UTF-8", b"{}": "GeoJSON with 1 to 12", b" " * 200_001: "up to 200,000 bytes"}


def test_a_file_that_is_none_is_refused_beside_its_field(send):
    for content, refusal in FILES.items():
        answer = send(file=SimpleUploadedFile("things.geojson", content))
        assert answer.status_code == 422
        assert refusal in answer.context["form"].errors["file"][0]
        assert answer.context["quote"] is None


def test_it_quotes_and_then_spends_the_same(send, asked):
    quoted = send("more", **{asked.name_box: "Quay"}, **asked.boxes)
    page = quoted.content.decode()
    assert ("percentage points" if asked.parameter == "zones" else "with probability 95 %") in page
    assert "Cost: whole record" in page
    assert not Release.objects.exists()
    spent = send(**dict(quoted.context["typed"]), key="k1")
    made = Release.objects.get()
    assert spent["Location"] == reverse("release", args=[made.pk])
    things = getattr(draw_of(made).mechanism, asked.parameter)
    assert [thing.name for thing in things] == [NAME, "Quay"]


@pytest.mark.parametrize(
    ("limits", "usual"),
    [
        ({"record": "90", "radius": "9"}, "0.2"),  # 31 times the radius across, 9 / 31 or less
        ({"record": "9000", "radius": "9"}, "0.9"),
        ({"record": "9000", "radius": "90"}, "1"),
        ({"record": None, "radius": "90"}, "1"),
    ],
)
def test_the_epsilon_to_begin_with_costs_a_tenth_of_the_limits_at_most(
    make_dataset, client_of, asked, limits, usual
):
    make_dataset("wide", Relation.REPLACE, radius_m=5_000, limits=limits)
    seen = client_of("analyst").get(reverse(asked.page, args=["wide"]))
    assert seen.context["form"]["epsilon"].value() == usual


# 0.2 over 2,000 m and 0.3 over 3,000 m are the same α, which the radius of 2,000 m turns into ε = 0.2.
def test_sentences_become_the_epsilon_that_grants_them(send, panel, asked):
    before = Event.objects.count()
    answer = send(**DAY, **ALL)
    page = answer.content.decode()
    found = answer.context["form"]["epsilon"].value()
    assert Fraction("0.199") <= Fraction(found) <= Fraction("0.2")
    assert "Moving a thirtieth of the record (as a day of a month) by up to 60 km costs ε = 0." in page
    request = ReleaseRequest(mechanism=asked.mechanism, epsilon=found, parameters=asked.parameters)
    loss = Plan.of(panel, request).guarantee.loss
    assert loss(2000) <= Fraction("0.2") < loss(2000) * Fraction(101, 100)
    assert loss(3000) <= Fraction("0.3")
    assert Event.objects.count() == before


def test_it_spends_what_was_found_and_the_sentences_can_be_changed(send):
    answer = send(**DAY)
    shown = send(**dict(answer.context["looked_for"].query) | {"act": "add"}).content.decode()
    assert 'name="wish1_distance_m" value="60000"' in shown
    assert 'id="planner"' in shown
    assert "What this release costs" not in shown
    send(**dict(answer.context["typed"]), key="k1")
    assert Release.objects.get().epsilon == Fraction(answer.context["form"]["epsilon"].value())


def test_half_a_sentence_is_refused_where_it_matters(send):
    refused = send(wish1_part="1/30")
    assert refused.status_code == 422
    assert refused.context["quote"] is None
    assert refused.context["wish_form"].errors["wish1_epsilon"]
    added = send("add", wish1_part="1/30")
    assert added.status_code == 200
    assert len(added.context["gathered"]) == 1
    assert "aria-invalid" not in added.content.decode()


def test_a_period_is_charged_as_a_whole_record_and_kept(send, panel):
    answer = send(epsilon="0.1", since="2026-03-01", until="2026-03-02", until_time="12:00")
    assert "from 2026-03-01 00:00 to before 2026-03-02 12:00 UTC" in answer.content.decode()
    record, radius = answer.context["quote"].quote.lines[:2]
    assert record.amount == radius.amount > 0.1 * 10**12  # what a whole record costs, in units of 1e-12
    assert answer.context["form"]["until_time"].value() == "12:00"
    send(**dict(answer.context["typed"]), key="k1")
    made = Release.objects.get()
    assert made.until - made.since == 36 * 3600
    carry_out(made.pk)
    assert Release.objects.get().state == "published"


def test_a_period_that_is_none_is_refused_beside_its_field(send):
    answer = send(since="2026-03-02", until="2026-03-01")
    assert answer.status_code == 422
    assert answer.context["form"].errors["until"]
    assert 'id="data-slice"' in answer.content.decode()


def test_the_script_reads_files_as_long_as_the_server_does():
    script = Path(finders.find("hazemap/gathered.js")).read_text(encoding="utf-8")
    [found] = re.findall(r"MOST_BYTES = ([\d_]+);", script)
    assert int(found) == LONGEST_TEXT
