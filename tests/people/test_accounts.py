"""Accounts: closing them leaves no dataset without a steward, and making datasets is a permission."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from heatmaps import access, accounts, members
from heatmaps.accounts import LastAdministrator
from heatmaps.members import LastSteward
from heatmaps.models import ApiToken, Dataset
from tests.services import seed


def test_it_closes_and_opens_an_account(administrator, people, dataset, client_of):
    session = client_of("analyst")
    ApiToken.objects.create(user=people["analyst"], name="laptop", scopes=["read"])

    accounts.close(administrator, people["analyst"])
    assert session.get("/account/").status_code == 302
    assert not ApiToken.objects.exists()
    accounts.reopen(administrator, people["analyst"])

    people["analyst"].refresh_from_db()
    assert access.roles(people["analyst"], dataset) == {"analyst"}


def test_it_does_not_close_the_last_stewards_account(administrator, steward, dataset, make_dataset, people):
    town = make_dataset("town")
    town.memberships.create(user=people["stranger"], role="steward")

    with pytest.raises(LastSteward) as refusal:
        accounts.close(administrator, steward)

    assert refusal.value.slugs == ["city"]
    steward.refresh_from_db()
    assert steward.is_active
    members.add(administrator, dataset, "administrator", "steward", reason="she left us")
    accounts.close(administrator, steward)
    steward.refresh_from_db()
    assert not steward.is_active


def test_an_administrator_is_left(administrator, people):
    for act in (accounts.close, lambda *who: accounts.set_administrator(*who, wanted=False)):
        with pytest.raises(LastAdministrator):
            act(administrator, administrator)
    accounts.set_administrator(administrator, people["stranger"], wanted=True)

    accounts.set_administrator(administrator, administrator, wanted=False)

    administrator.refresh_from_db()
    people["stranger"].refresh_from_db()
    assert not administrator.is_superuser
    assert people["stranger"].is_staff


def test_others_change_no_account(steward, people):
    for act in (
        lambda: accounts.close(steward, people["analyst"]),
        lambda: accounts.reopen(steward, people["analyst"]),
        lambda: accounts.set_administrator(steward, steward, wanted=True),
        lambda: accounts.allow_datasets(steward, steward, allowed=True),
        lambda: accounts.allow_sign_up(steward, allowed=True),
        lambda: accounts.account_for(steward, people["analyst"].pk),
    ):
        with pytest.raises(PermissionDenied):
            act()


def test_making_datasets_is_a_permission(administrator, people):
    """Accounts that the operator made by a command have it."""
    person = User.objects.create_user("ada")
    assert access.may_create_datasets(person)

    accounts.allow_datasets(administrator, person, allowed=False)
    with pytest.raises(PermissionDenied, match="ask an administrator"):
        seed.make_dataset(person, "town")
    assert not Dataset.objects.exists()

    accounts.allow_datasets(administrator, person, allowed=True)
    assert seed.make_dataset(person, "town").slug == "town"
    accounts.allow_datasets(administrator, administrator, allowed=False)
    assert access.may_create_datasets(administrator)
