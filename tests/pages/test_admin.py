"""The administration: rows are read, not edited; tokens are revoked."""

import pytest
from django.urls import reverse

from heatmaps.admin import site
from heatmaps.models import (
    Account,
    ApiToken,
    Charge,
    CheckIn,
    DistrictFile,
    Event,
    GuideFile,
    Release,
    Result,
    Upload,
)
from tests.services import seed

FILES = {DistrictFile: "content", GuideFile: "shares"}  # and the column of what they hold
READ_ONLY = (Account, Charge, Event, Release, Result, *FILES)


@pytest.fixture
def administrator(client_of):
    return client_of("administrator")


@pytest.fixture
def stored(people, dataset):
    """A file of each kind."""
    seed.store_districts(people["steward"], dataset)
    seed.store_guide(people["steward"], dataset)


def address_of(row, act):
    return reverse(f"admin:heatmaps_{row._meta.model_name}_{act}", args=[row.pk])


@pytest.mark.parametrize("model", READ_ONLY)
def test_it_shows_ledger_rows_and_lets_nobody_edit_them(administrator, published, stored, model):
    row = model.objects.first()
    name = f"admin:heatmaps_{model._meta.model_name}"
    before = model.objects.values().order_by("pk")[::1]

    assert administrator.get(reverse(f"{name}_changelist")).status_code == 200
    assert administrator.get(address_of(row, "change")).status_code == 200
    assert administrator.get(reverse(f"{name}_add")).status_code == 403
    assert administrator.post(address_of(row, "change"), {"limit": "1", "state": "x"}).status_code == 403
    assert administrator.post(address_of(row, "delete"), {"post": "yes"}).status_code == 403
    administrator.post(
        reverse(f"{name}_changelist"),
        {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"},
    )
    assert model.objects.values().order_by("pk")[::1] == before


def test_its_pages_pass_djangos_checks():
    """`manage.py check` looks at what is loaded by then, which may be nothing."""
    assert site.check(None) == []


def test_it_does_not_show_data(administrator, published):
    for model in (CheckIn, Upload):
        assert not site.is_registered(model)
    body = administrator.get(address_of(Release.objects.get(), "change")).content.decode()
    assert "lease until" not in body.lower()
    assert "finished" not in body.lower()


@pytest.mark.parametrize("model", FILES)
def test_it_says_where_files_are_from_and_reads_nothing_of_them(
    administrator, stored, model, django_assert_max_num_queries
):
    row = model.objects.get()
    for address in (
        reverse(f"admin:heatmaps_{model._meta.model_name}_changelist"),
        address_of(row, "change"),
    ):
        with django_assert_max_num_queries(20) as asked:
            body = administrator.get(address).content.decode()
        assert row.title in body
        assert row.source in body
        read = [
            query["sql"] for query in asked if f'"{model._meta.db_table}"."{FILES[model]}"' in query["sql"]
        ]
        assert read == []
    assert row.sha256 in body


def test_it_links_to_the_page_that_changes_a_limit(administrator, dataset):
    body = administrator.get(reverse("admin:heatmaps_account_changelist")).content.decode()

    page = reverse("limit-change", args=[dataset.slug, "presence"])
    assert f'href="{page}"' in body
    assert administrator.get(page).status_code == 200


def test_it_shows_members_and_sends_to_the_page_that_changes_them(administrator, dataset, people):
    """A role given here would be no event, and a last steward could go."""
    prefix = "memberships"
    typed = {f"{prefix}-TOTAL_FORMS": "1", f"{prefix}-INITIAL_FORMS": "0", f"{prefix}-MIN_NUM_FORMS": "0"}
    typed |= {f"{prefix}-0-user": people["stranger"].pk, f"{prefix}-0-role": "analyst"}
    typed |= {f"{prefix}-0-dataset": dataset.pk, f"{prefix}-MAX_NUM_FORMS": "1000"}

    body = administrator.get(address_of(dataset, "change")).content.decode()

    assert f'href="{reverse("people", args=[dataset.slug])}"' in body
    assert administrator.post(address_of(dataset, "change"), typed).status_code == 403
    assert dataset.memberships.count() == 3


def test_it_shows_accounts_and_edits_none(administrator, people):
    """Not even a password: whoever chooses it can act as that person."""
    steward = people["steward"]
    change = reverse("admin:auth_user_change", args=[steward.pk])

    assert f'href="{reverse("account-of", args=[steward.pk])}"' in administrator.get(change).content.decode()
    assert administrator.post(change, {"username": "x", "is_active": ""}).status_code == 403
    assert administrator.get(reverse("admin:auth_user_add")).status_code == 403
    delete = reverse("admin:auth_user_delete", args=[steward.pk])
    assert administrator.post(delete, {"post": "yes"}).status_code == 403
    for address in (f"/admin/auth/user/{steward.pk}/password/", "/admin/auth/user/password/"):
        typed = {"password1": "grass grows by inches", "password2": "grass grows by inches"}
        assert administrator.post(address, typed).status_code in (302, 404)
    steward.refresh_from_db()
    assert not steward.check_password("grass grows by inches")
    assert steward.is_active


def test_it_makes_nobody_a_token(administrator, people):
    """A token acts as its owner: an administrator who made one for a steward would see the data."""
    typed = {"user": people["steward"].pk, "name": "laptop", "scopes": ["read"], "days": "30"}

    assert administrator.post(reverse("admin:heatmaps_apitoken_add"), typed).status_code == 403
    assert not ApiToken.objects.exists()


def test_it_revokes_a_token(administrator, people):
    made, _ = ApiToken.objects.create(user=people["analyst"], name="laptop", scopes=["read"])

    administrator.post(address_of(made, "delete"), {"post": "yes"})

    assert not ApiToken.objects.exists()


def test_it_is_for_administrators_only(client_of, people, dataset):
    people["steward"].is_staff = True
    people["steward"].save()

    for page in (reverse("admin:heatmaps_account_changelist"), address_of(dataset, "change")):
        assert client_of("steward").get(page).status_code == 403
        assert client_of("analyst").get(page).status_code == 302
