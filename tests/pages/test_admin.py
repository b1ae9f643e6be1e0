"""The administration: ledger rows cannot be edited, tokens are shown once, people get roles."""

import pytest
from django.contrib import admin
from django.urls import reverse

from heatmaps.models import Account, ApiToken, Charge, CheckIn, Dataset, Event, Release, Result, Upload

READ_ONLY = (Account, Charge, Event, Release, Result)


@pytest.fixture
def administrator(client_of):
    return client_of("administrator")


def address_of(row, act):
    return reverse(f"admin:heatmaps_{row._meta.model_name}_{act}", args=[row.pk])


@pytest.mark.parametrize("model", READ_ONLY)
def test_it_shows_ledger_rows_and_lets_nobody_edit_them(administrator, published, model):
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


def test_it_does_not_show_data(administrator, published):
    for model in (CheckIn, Upload):
        assert not admin.site.is_registered(model)
    body = administrator.get(address_of(Release.objects.get(), "change")).content.decode()
    assert "lease until" not in body.lower()
    assert "finished" not in body.lower()


def test_it_links_to_the_page_that_changes_a_limit(administrator, dataset):
    body = administrator.get(reverse("admin:heatmaps_account_changelist")).content.decode()

    page = reverse("limit-change", args=[dataset.slug, "presence"])
    assert f'href="{page}"' in body
    assert administrator.get(page).status_code == 200


def test_it_gives_people_roles(administrator, dataset, people):
    prefix = "memberships"
    typed = {f"{prefix}-TOTAL_FORMS": "1", f"{prefix}-INITIAL_FORMS": "0", f"{prefix}-MIN_NUM_FORMS": "0"}
    typed |= {f"{prefix}-0-user": people["stranger"].pk, f"{prefix}-0-role": "analyst"}
    typed |= {f"{prefix}-0-dataset": dataset.pk, f"{prefix}-MAX_NUM_FORMS": "1000"}

    answer = administrator.post(address_of(dataset, "change"), typed | {"title": "another"})

    assert answer.status_code == 302
    assert dataset.memberships.get(user=people["stranger"]).role == "analyst"
    assert Dataset.objects.get().title == dataset.title


def test_it_shows_a_new_token_once(administrator, people, client):
    typed = {"user": people["analyst"].pk, "name": "laptop", "scopes": ["read"], "days": "30"}

    answer = administrator.post(reverse("admin:heatmaps_apitoken_add"), typed)

    made = ApiToken.objects.get()
    secret = answer.context["token"].secret
    assert secret in answer.content.decode()
    assert (made.user, made.name, made.scopes) == (people["analyst"], "laptop", ["read"])
    assert made.expiry is not None
    for page in (reverse("admin:heatmaps_apitoken_changelist"), address_of(made, "change")):
        assert secret not in administrator.get(page).content.decode()


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
