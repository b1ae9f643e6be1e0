"""Creating a dataset: what is checked, and that all of it or nothing is there afterwards."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied

from heatmaps import datasets
from heatmaps.datasets import NewDataset
from heatmaps.ledger import verification
from heatmaps.models import Account, AccountKind, Dataset, Ledger, Membership, Role
from heatmaps.pseudonyms import keys
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

HARBOUR = Region(2.0, 41.0, 2.5, 41.5)
ADD_REMOVE = {
    "slug": "harbour",
    "title": "Harbour",
    "region": HARBOUR,
    "relation": "add_remove",
    "limits": {"presence": "1.0", "delta": "0"},
}
REPLACE = {
    "slug": "enrolled",
    "title": "Enrolled",
    "region": HARBOUR,
    "relation": "replace",
    "limits": {"record": "8", "radius": "0.5", "delta": "1e-6"},
    "persons": 200,
    "radius_m": 600,
}


@pytest.fixture
def person(db):
    return User.objects.create_user("steward")


def limits(dataset):
    return dict(Account.objects.filter(dataset=dataset).values_list("kind", "limit"))


def test_it_creates_an_add_remove_dataset_with_exact_limits(person):
    dataset = datasets.create(person, NewDataset(**ADD_REMOVE, expected_persons=500))
    dataset.refresh_from_db()
    assert limits(dataset) == {"presence": 10**12, "delta": 0}
    assert (dataset.persons, dataset.radius_m, dataset.expected_persons) == (None, None, 500)
    assert Region(dataset.west, dataset.south, dataset.east, dataset.north) == HARBOUR


def test_it_creates_a_replace_dataset(person):
    dataset = datasets.create(person, NewDataset(**REPLACE))
    assert limits(dataset) == {"record": 8 * 10**12, "radius": 5 * 10**11, "delta": 10**12}
    assert (dataset.persons, dataset.radius_m) == (200, 600)


@pytest.mark.parametrize(("kind", "limit"), [("record", "3"), ("radius", "0.5")])
def test_it_tracks_the_other_account_without_a_limit(person, kind, limit):
    dataset = datasets.create(person, NewDataset(**REPLACE | {"limits": {kind: limit}}))
    expected = dict.fromkeys(["record", "radius"]) | {kind: int(float(limit) * 10**12), "delta": 0}
    assert limits(dataset) == expected


def test_it_makes_the_person_steward_and_gives_the_dataset_its_key_and_chain(person):
    dataset = datasets.create(person, NewDataset(**ADD_REMOVE), is_demo=True)
    assert Membership.objects.get(dataset=dataset).role == Role.STEWARD
    assert dataset.created_by == person
    assert dataset.is_demo
    assert len(keys.load(Dataset.objects.get(pk=dataset.pk))) == 32
    assert verification.verify(dataset).ok


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"slug": ""}, "slug"),
        ({"slug": "Harbour"}, "slug"),
        ({"slug": "-harbour"}, "slug"),
        ({"slug": "har--bour"}, "slug"),
        ({"slug": "../harbour"}, "slug"),
        ({"slug": "h" * 61}, "slug"),
        ({"slug": "harbour\n"}, "slug"),
        ({"slug": "new"}, "slug"),
        ({"slug": None}, "slug"),
        ({"title": "  "}, "title"),
        ({"title": "t" * 121}, "title"),
        ({"title": "a\x00b"}, "title"),
        ({"title": None}, "title"),
        ({"region": None}, "bbox"),
        ({"relation": "bounded"}, "relation"),
        ({"limits": {}}, "limits.presence"),
        ({"limits": {"presence": None}}, "limits.presence"),
        ({"limits": {"presence": ""}}, "limits.presence"),
        ({"limits": {"presence": "-1"}}, "limits.presence"),
        ({"limits": {"presence": "NaN"}}, "limits.presence"),
        ({"limits": {"presence": "1e400"}}, "limits.presence"),
        ({"limits": {"presence": "1e-13"}}, "limits.presence"),
        ({"limits": {"presence": "1000001"}}, "limits.presence"),
        ({"limits": {"presence": "1", "delta": "1.1"}}, "limits.delta"),
        ({"limits": {"presence": "1", "delta": "1e-19"}}, "limits.delta"),
        ({"limits": {"presence": "1", "record": "1"}}, "limits.record"),
        ({"limits": {"presence": "1", "typo": "1"}}, "limits.typo"),
        ({"persons": 200}, "persons"),
        ({"radius_m": 600}, "radius_m"),
        ({"expected_persons": 0}, "expected_persons"),
        ({"expected_persons": 2.5}, "expected_persons"),
    ],
)
def test_it_names_the_field_that_is_wrong(change, field):
    with pytest.raises(ParameterError) as caught:
        NewDataset(**ADD_REMOVE | change)
    assert caught.value.parameter == field
    assert caught.value.allowed


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"persons": None}, "persons"),
        ({"persons": 0}, "persons"),
        ({"persons": True}, "persons"),
        ({"persons": 10**11}, "persons"),
        ({"radius_m": None}, "radius_m"),
        ({"radius_m": 0}, "radius_m"),
        ({"radius_m": 10**8}, "radius_m"),
        ({"expected_persons": 100}, "expected_persons"),
        ({"limits": {"delta": "0"}}, "limits.record"),
        ({"limits": {"presence": "1"}}, "limits.presence"),
        ({"limits": {"record": "x", "radius": "1"}}, "limits.record"),
    ],
)
def test_it_names_the_field_that_is_wrong_under_replace(change, field):
    with pytest.raises(ParameterError) as caught:
        NewDataset(**REPLACE | change)
    assert caught.value.parameter == field


def test_it_explains_boxes_that_are_inverted_or_over_the_antimeridian():
    with pytest.raises(ParameterError, match="antimeridian"):
        Region(170, -20, -170, -10)
    with pytest.raises(ParameterError, match="above south"):
        Region(1, 2, 3, 1)


def test_it_refuses_a_slug_that_is_taken(person):
    datasets.create(person, NewDataset(**ADD_REMOVE))
    with pytest.raises(ParameterError, match="no other dataset") as caught:
        datasets.create(person, NewDataset(**ADD_REMOVE))
    assert caught.value.parameter == "slug"


def test_it_refuses_a_slug_that_was_taken_at_the_same_moment(person, monkeypatch, settings, tmp_path):
    datasets.create(person, NewDataset(**ADD_REMOVE))
    settings.KEY_DIR = tmp_path
    seen = iter([False, True])
    monkeypatch.setattr("django.db.models.query.QuerySet.exists", lambda _self: next(seen))
    with pytest.raises(ParameterError, match="no other dataset"):
        datasets.create(person, NewDataset(**ADD_REMOVE))
    assert not list(tmp_path.iterdir())


def test_it_leaves_nothing_behind_when_a_step_fails(person, monkeypatch, settings, tmp_path):
    settings.KEY_DIR = tmp_path

    def broken(*_args, **_kwargs):
        raise RuntimeError("broken")

    monkeypatch.setattr(datasets, "open_ledger", broken)
    with pytest.raises(RuntimeError):
        datasets.create(person, NewDataset(**ADD_REMOVE))
    assert not Dataset.objects.exists()
    assert not Membership.objects.exists()
    assert not Ledger.objects.exists()
    assert not list(tmp_path.iterdir())


def test_it_creates_nothing_for_a_stranger(db):
    with pytest.raises(PermissionDenied):
        datasets.create(AnonymousUser(), NewDataset(**ADD_REMOVE))


def test_it_does_not_round_a_limit():
    new = NewDataset(**ADD_REMOVE | {"limits": {AccountKind.PRESENCE: "0.000000000001"}})
    assert new.limits_in_units() == {AccountKind.PRESENCE: 1, AccountKind.DELTA: 0}
