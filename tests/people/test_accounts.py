"""Accounts: closing them leaves no dataset without a steward, and making datasets is a permission."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from heatmaps.models import ApiToken, Dataset
from heatmaps.people import accounts, members, permissions
from heatmaps.people.accounts import LastAdministrator
from heatmaps.people.members import LastSteward
from tests.services import seed


def test_it_closes_and_opens_an_account(administrator, people, dataset, client_of):
    session = client_of("analyst")
    ApiToken.objects.create(user=people["analyst"], name="laptop", scopes=["read"])

    accounts.close(administrator, people["analyst"])
    assert session.get("/account/").status_code == 302
    assert not ApiToken.objects.exists()
    accounts.reopen(administrator, people["analyst"])

    people["analyst"].refresh_from_db()
    assert permissions.roles(people["analyst"], dataset) == {"analyst"}
    assert session.get("/account/").status_code == 302
    assert client_of("analyst").get("/account/").status_code == 200


def test_no_session_comes_back_that_was_made_while_an_account_was_closed(administrator, people, client_of):
    """A sign-in that began before the account was closed ends after it."""
    stranger = client_of("stranger")
    accounts.close(administrator, people["analyst"])
    session = client_of("analyst")

    accounts.reopen(administrator, people["analyst"])

    assert session.get("/account/").status_code == 302
    assert stranger.get("/account/").status_code == 200


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
    for act in (accounts.close, lambda *who: accounts.set_administrator(*who, is_administrator=False)):
        with pytest.raises(LastAdministrator):
            act(administrator, administrator)
    accounts.set_administrator(administrator, people["stranger"], is_administrator=True)

    accounts.set_administrator(administrator, administrator, is_administrator=False)

    administrator.refresh_from_db()
    people["stranger"].refresh_from_db()
    assert not administrator.is_superuser
    assert people["stranger"].is_staff


def test_others_change_no_account(steward, people):
    for act in (
        lambda: accounts.close(steward, people["analyst"]),
        lambda: accounts.reopen(steward, people["analyst"]),
        lambda: accounts.set_administrator(steward, steward, is_administrator=True),
        lambda: accounts.allow_datasets(steward, steward, allowed=True),
        lambda: accounts.allow_sign_up(steward, allowed=True),
        lambda: accounts.account_for(steward, people["analyst"].pk),
    ):
        with pytest.raises(PermissionDenied):
            act()


def test_making_datasets_is_a_permission(administrator, people):
    """Accounts that the operator made by a command have it."""
    person = User.objects.create_user("ada")
    assert permissions.may_create_datasets(person)

    accounts.allow_datasets(administrator, person, allowed=False)
    with pytest.raises(PermissionDenied, match="ask an administrator"):
        seed.make_dataset(person, "town")
    assert not Dataset.objects.exists()

    accounts.allow_datasets(administrator, person, allowed=True)
    assert seed.make_dataset(person, "town").slug == "town"
    accounts.allow_datasets(administrator, administrator, allowed=False)
    assert permissions.may_create_datasets(administrator)
