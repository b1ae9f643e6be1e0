"""Members of a dataset: what may be changed by whom, and what the ledger says of it."""

import json

import pytest
from django.core.exceptions import PermissionDenied
from django.db.models import ProtectedError
from django.http import Http404

from heatmaps.ledger.verification import verify
from heatmaps.people import members, permissions
from heatmaps.people.members import AlreadyMember, LastSteward
from mechanisms.check import ParameterError
from tests.services.installation import ROOT


def facts(event):
    kind, actor, before, after = event
    return kind, actor, json.loads(before), json.loads(after)


def test_each_change_is_an_event(steward, people, dataset, events, member_of):
    stranger = people["stranger"]
    members.add(steward, dataset, "stranger", "analyst")
    members.change_role(steward, member_of(stranger), "auditor")
    members.change_role(steward, member_of(stranger), "auditor")  # nothing changes, nothing is written
    members.remove(steward, member_of(stranger))

    told = [facts(event) for event in events()]
    assert told == [
        ("member", "steward", {"role": "none"}, {"member": stranger.pk, "role": "analyst"}),
        ("member", "steward", {"role": "analyst"}, {"member": stranger.pk, "role": "auditor"}),
        ("member", "steward", {"role": "auditor"}, {"member": stranger.pk, "role": "none"}),
    ]
    assert verify(dataset).ok
    assert permissions.roles(stranger, dataset) == frozenset()


@pytest.mark.parametrize("name", ["analyst", "auditor"])
def test_others_change_nothing_but_their_own_membership(people, dataset, member_of, events, name):
    person, steward = people[name], member_of(people["steward"])
    with pytest.raises(PermissionDenied):
        members.add(person, dataset, "stranger", "analyst")
    with pytest.raises(PermissionDenied):
        members.change_role(person, member_of(person), "steward")
    with pytest.raises(PermissionDenied):
        members.remove(person, steward)
    with pytest.raises(Http404):
        members.add(people["stranger"], dataset, "stranger", "analyst")
    assert events() == []

    members.remove(person, member_of(person))

    assert permissions.roles(person, dataset) == frozenset()
    assert events()[0][1] == name


def test_the_last_steward_stays(steward, administrator, dataset, member_of, events):
    """Whoever wants it, the steward or an administrator."""
    for actor in (steward, administrator):
        with pytest.raises(LastSteward, match="city"):
            members.remove(actor, member_of(steward))
        with pytest.raises(LastSteward):
            members.change_role(actor, member_of(steward), "analyst")
    assert member_of(steward).role == "steward"
    assert events() == []


def test_the_last_but_one_may_go(steward, second, dataset, member_of):
    members.remove(steward, member_of(steward))

    with pytest.raises(LastSteward):
        members.remove(second, member_of(second))


def test_a_closed_account_is_no_steward_who_could_stay(steward, second, dataset, member_of):
    second.is_active = False
    second.save()

    with pytest.raises(LastSteward):
        members.remove(steward, member_of(steward))


def test_an_administrator_becomes_a_steward_by_a_reasoned_event_only(administrator, dataset, events):
    """A curious administrator: all members see who it was and why."""
    with pytest.raises(ParameterError, match="reason"):
        members.add(administrator, dataset, "administrator", "steward", reason="  ")
    assert events() == []

    members.add(administrator, dataset, "administrator", "steward", reason="the steward left us")

    after = {"member": administrator.pk, "role": "steward", "reason": "the steward left us"}
    assert facts(events()[0]) == ("member", "administrator", {"role": "none"}, after)
    assert permissions.may(administrator, dataset, permissions.Act.SEE_DATA)


def test_an_administrator_promotes_nobody_without_a_reason(administrator, people, dataset, member_of):
    analyst = member_of(people["analyst"])
    with pytest.raises(ParameterError, match="reason"):
        members.change_role(administrator, analyst, "steward")
    members.change_role(administrator, analyst, "auditor")  # this opens no data
    members.change_role(administrator, analyst, "steward", reason="x" * 500)
    with pytest.raises(ParameterError, match="reason"):
        members.add(administrator, dataset, "stranger", "steward", reason="x" * 501)


def test_a_steward_needs_no_reason(steward, dataset, events):
    members.add(steward, dataset, "stranger", "steward", reason="not asked for")

    assert "reason" not in events()[0][3]


def test_it_refuses_who_is_unknown_closed_or_a_member(steward, people, dataset):
    people["stranger"].is_active = False
    people["stranger"].save()

    for name in ("nobody", "stranger"):
        with pytest.raises(ParameterError, match="username"):
            members.add(steward, dataset, name, "analyst")
    with pytest.raises(AlreadyMember):
        members.add(steward, dataset, "analyst", "auditor")
    with pytest.raises(ParameterError, match="role"):
        members.add(steward, dataset, "administrator", "owner")


def test_an_account_with_a_role_cannot_be_deleted(people, dataset):
    with pytest.raises(ProtectedError):
        people["auditor"].delete()


def test_the_table_in_the_head_of_the_module_is_what_is_checked():
    rows = [line for line in permissions.__doc__.splitlines() if line.startswith("| ")]
    columns = [cell.strip() for cell in rows[0].strip("|").split("|")][1:]
    told = [[cell.strip() for cell in row.strip("|").split("|")][1:] for row in rows[2:]]
    allowed = [
        ["yes" if column in held else "no" for column in columns] for held in permissions.ALLOWED.values()
    ]

    assert columns == ["steward", "analyst", "auditor", "administrator"]
    assert told == allowed
    assert len(rows) == 2 + len(permissions.Act)
    assert "\n".join(rows) in (ROOT / "docs/how-to/people.md").read_text()
