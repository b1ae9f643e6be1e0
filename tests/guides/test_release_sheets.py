"""Files that are maps of Hazemap: what their release sheets promise is read, counted, and in the ledger."""

import json
from fractions import Fraction

import pytest

from heatmaps.exports import release_files
from heatmaps.exports.sheet_words import headline
from heatmaps.guides import files, raster
from heatmaps.guides.raster import RasterGuide
from heatmaps.guides.raster_child import guide_of
from heatmaps.guides.release_sheets import NOT_FROM_THESE_PEOPLE, SHEET_IS_RIGHT, FileSheet
from heatmaps.ledger.verification import verify
from heatmaps.models import Event, GuideFile
from heatmaps.releases import publication
from heatmaps.wording.release import for_release, promise_of
from heatmaps.wording.unchecked_files import UNCHECKED_BEFORE
from mechanisms.check import ParameterError
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term
from tests.exports.examples import OCEAN, make_released, written

OWN = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=1)
# Their sum has too many digits to be written out.
MANY_DIGITS = tuple(Term(cap=Fraction(1, 10**60 + 1 + 2 * number)) for number in range(80))
REPLACED = {"persons": 50, "radius_m": 600, "limits": {"record": "40", "radius": None}}
CITED = files.GuideFileFacts(title="A map", source="This server")


def tags(*, guarantee=OWN, **more):
    """Of a map, as `write_geotiff` writes them."""
    sheet = {"guarantee": guarantee.to_json(), **more}
    return {"kind": "hazemap release sheet"} | {name: json.dumps(value) for name, value in sheet.items()}


# --- tags ----------------------------------------------------------------------------------------------


def test_a_raster_of_others_has_no_sheet():
    assert FileSheet.of_tags({}) is None
    assert FileSheet.of_tags({"kind": "raster", "guarantee": "{"}) is None


def test_a_map_has_its_guarantee():
    released = make_released()
    _, sheet = guide_of(written(".tif", released), OCEAN)
    assert sheet == FileSheet(guarantee=Guarantee.from_json(released.sheet["guarantee"]))
    assert FileSheet.from_json(json.loads(json.dumps(sheet.to_json()))) == sheet


def test_maps_before_it_count():
    summed = OWN + OWN
    assert FileSheet.of_tags(tags(together={"guarantee": summed.to_json()})).guarantee == summed


@pytest.mark.parametrize(
    ("epsilon", "loss"), [("4/3", Fraction(4, 3)), ("1.4", Fraction(7, 5)), ("inf", INFINITY)]
)
def test_a_sum_that_was_written_as_a_text_holds_for_every_distance(epsilon, loss):
    """As it was, before sheets had the guarantee of the sum."""
    metric = Guarantee(relation=Relation.REPLACE, terms=(Term(cap=Fraction(1), alpha_per_m=Fraction(1, 9)),))
    sheet = FileSheet.of_tags(tags(guarantee=metric, together={"epsilon": epsilon, "delta": "0.01"}))
    assert [sheet.guarantee.loss(distance_m) for distance_m in (1, INFINITY)] == [loss, loss]
    assert (sheet.guarantee.relation, sheet.guarantee.delta) == (Relation.REPLACE, Fraction(1, 100))


@pytest.mark.parametrize(
    ("guide", "conditions"),
    [
        ({"sha256": "ab"}, ()),
        ({"unchecked": "Who knows."}, (NOT_FROM_THESE_PEOPLE,)),
        ({"unchecked": "Who knows.", "conditions": [SHEET_IS_RIGHT]}, (SHEET_IS_RIGHT,)),
        ({"unchecked": "x", "conditions": [NOT_FROM_THESE_PEOPLE, "x"]}, (NOT_FROM_THESE_PEOPLE,)),
    ],
)
def test_it_says_on_what_a_promise_depends(guide, conditions):
    assert FileSheet.of_tags(tags(guide=guide)).conditions == conditions


@pytest.mark.parametrize(
    "changes",
    [
        {"guarantee": "{"},
        {"guarantee": "[]"},
        {"guarantee": "[" * 10_000},
        {"guarantee": json.dumps(OWN.to_json()) + " " * 2**14},
        {"guarantee": json.dumps(OWN.to_json() | {"delta": "1/" + "1" * 5000})},
        {"together": "7"},
        {"together": json.dumps({"epsilon": "1/0", "delta": "0"})},
        {"together": json.dumps({"epsilon": "-1", "delta": "0"})},
        {"together": json.dumps({"epsilon": "1e999999", "delta": "0"})},
        {"together": json.dumps({"epsilon": INFINITY, "delta": 0})},
        {"guarantee": json.dumps(OWN.to_json() | {"delta": "1" * 101 + "/1"})},
        {"guarantee": json.dumps(Guarantee(relation="add_remove", terms=MANY_DIGITS).to_json())},
        {"together": json.dumps({"guarantee": {**OWN.to_json(), "relation": "replace"}})},
        {"guide": "[1]"},
    ],
)
def test_a_sheet_that_cannot_be_read_is_refused(changes):
    """In place of a total that would leave it out."""
    with pytest.raises(ParameterError, match="a Hazemap map whose release sheet cannot be read"):
        FileSheet.of_tags(tags() | changes)
    without = {name: text for name, text in tags().items() if name != "guarantee"}
    with pytest.raises(ParameterError, match="guide"):
        FileSheet.of_tags(without)


# --- stored --------------------------------------------------------------------------------------------


@pytest.fixture
def city(make_dataset):
    """Without data."""
    return make_dataset("copy")


@pytest.fixture
def store(steward, monkeypatch, tmp_path):
    """Stores the GeoTIFF of a release, read in this process."""

    def read(path, region):
        guide, sheet = guide_of(path.read_bytes(), region)
        return RasterGuide(guide=guide, file_sha256="0" * 64, sheet=sheet)

    monkeypatch.setattr(raster, "read", read)

    def make(dataset, release):
        with release_files.download(release, "tif").open() as stream:
            (tmp_path / "map.tif").write_bytes(stream.read())
        return files.store(steward, dataset, tmp_path / "map.tif", CITED)

    return make


def test_a_map_that_starts_from_a_stored_one_states_what_both_cost(
    city, add_checkins, dataset, publish, store
):
    file = store(city, publish(dataset, epsilon="8"))
    add_checkins(city)
    first = publish(city, epsilon="3", guide=str(file.pk))
    second = publish(city, epsilon="2", guide=str(first.pk))
    for release, total, own in ((first, 11, 3), (second, 13, 2)):
        assert f"ε = {total}" in promise_of(release)
        assert "This holds only if the release sheet in the file behind it is right." in promise_of(release)
        assert f"ε = {own} is what this map adds" in " ".join(for_release(release))
        sheet = release_files.sheet_of(release)
        assert headline(sheet).startswith(f"ε = {total} (presence), δ = 0, with the maps it started from, if")
        assert sheet["guide"]["conditions"] == [SHEET_IS_RIGHT]


def test_a_map_under_another_relation_is_not_stored(make_dataset, dataset, publish, store):
    city = make_dataset("copy", relation=Relation.REPLACE, **REPLACED)
    with pytest.raises(ParameterError, match="a Hazemap map under add_remove") as caught:
        store(city, publish(dataset))
    assert caught.value.parameter == "file"
    assert not GuideFile.objects.exists()


def test_a_sheet_is_in_the_ledger(city, dataset, publish, store):
    file = store(city, publish(dataset))
    assert len(json.loads(Event.objects.get(kind="guide").after)["sheet_sha256"]) == 64
    assert verify(city).problem == ""
    for changed in (None, {**file.sheet, "conditions": [NOT_FROM_THESE_PEOPLE]}):
        GuideFile.objects.update(sheet=changed)
        assert "it is not what its event says" in verify(city).problem


def test_the_file_behind_a_public_map_under_another_relation_is_not_counted(
    city, make_dataset, add_checkins, publish, keep_file
):
    """Losses of two relations do not add up: the file must not be of these people."""
    file = keep_file(city)
    GuideFile.objects.update(sheet=FileSheet(guarantee=OWN).to_json())
    add_checkins(city)
    shown = publish(city, epsilon="3", guide=str(file.pk))
    publication.set_public(city.created_by, shown, public=True)
    other = make_dataset("other", relation=Relation.REPLACE, **REPLACED)
    add_checkins(other)
    release = publish(other, epsilon="8", guide=str(shown.pk))
    assert "(whole record ε = 8)" in " ".join(for_release(release))
    assert NOT_FROM_THESE_PEOPLE in promise_of(release)
    assert for_release(release)[-1] == UNCHECKED_BEFORE
