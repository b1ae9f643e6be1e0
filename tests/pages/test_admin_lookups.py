"""The administration's addresses answer the same whatever stands in columns that it does not show."""

import re

import pytest
from django.apps import apps
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import F
from django.test import RequestFactory
from django.urls import reverse

from heatmaps.admin import site
from heatmaps.ingest import opt_outs
from heatmaps.migrations.tables_of_2026.frozen_releases import FROZEN
from heatmaps.migrations.tables_of_2026.held_rows import EXTENTS, HELD
from heatmaps.models import (
    ApiToken,
    CheckIn,
    Dataset,
    DataVersion,
    DistrictFile,
    Enrolment,
    Event,
    GuideFile,
    Release,
    Result,
    Upload,
)
from tests.conftest import create_triggers, drop_triggers
from tests.services import seed
from tests.triggers import disabled

pytestmark = pytest.mark.unguarded

REGISTERED = sorted(site._registry.items(), key=lambda item: item[0].__name__)
# Every parameter of a list that filters, by model; each filters by a column that the list shows.
FILTERS = {
    "Account": {"kind"},
    "ApiToken": set(),
    "Charge": set(),
    "DistrictFile": set(),
    "DataVersion": set(),
    "Dataset": set(),
    "Event": {"kind"},
    "GuideFile": set(),
    "Release": {"mechanism"},
    "Result": set(),
    "User": {"is_active", "is_superuser"},
}
ALLOWED_SUFFIXES = ("", "__exact", "__isnull")


def lookups(model, depth):
    """Every lookup of every column of a model, and of what it is related to."""
    for field in model._meta.get_fields():
        name = field.name
        yield from (name, f"{name}_id", f"{name}__pk")
        yield from (f"{name}__{lookup}" for lookup in lookups_of(field))
        if field.is_relation and field.related_model and depth:
            yield from (f"{name}__{further}" for further in lookups(field.related_model, depth - 1))


def lookups_of(field):
    target = field if hasattr(field, "get_lookups") else field.field
    return (*target.get_lookups(), "year", "date__gte")


def asked(administrator, query):
    request = RequestFactory().get("/admin/", query)
    request.user = administrator
    return request


@pytest.mark.parametrize("depth", [1, pytest.param(2, marks=pytest.mark.long)])  # relations to follow
@pytest.mark.parametrize(("model", "model_admin"), REGISTERED, ids=[m.__name__ for m, _ in REGISTERED])
def test_lists_are_filtered_by_declared_columns_alone(people, model, model_admin, depth):
    allowed = {name + suffix for name in FILTERS[model.__name__] for suffix in ALLOWED_SUFFIXES}
    tried = 0
    for lookup in set(lookups(model, depth)) - allowed:
        request = asked(people["administrator"], {lookup: "1"})
        with pytest.raises(DisallowedModelAdminLookup):
            model_admin.get_changelist_instance(request)
        tried += 1
    assert tried > 100


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("auth_user", {"password__regex": "^md5"}),
        ("auth_user", {"password__startswith": "md5"}),
        ("heatmaps_event", {"salt__startswith": "a"}),
        ("heatmaps_event", {"at_microseconds__gt": "0"}),
        ("heatmaps_dataset", {"suppressions__isnull": "0"}),
        ("heatmaps_dataset", {"uploads__rows_accepted__gt": "1"}),
        ("heatmaps_release", {"late__gt": "1"}),
        ("heatmaps_apitoken", {"digest__startswith": "a"}),
    ],
)
def test_it_refuses_questions_about_hidden_columns(client_of, published, page, query):
    answer = client_of("administrator").get(reverse(f"admin:{page}_changelist"), query)

    assert answer.status_code == 400


def test_filters_of_lists_still_work(client_of, published):
    client = client_of("administrator")
    for model, names in FILTERS.items():
        app = "auth" if model == "User" else "heatmaps"
        address = reverse(f"admin:{app}_{model.lower()}_changelist")
        for name in names:
            for suffix in ALLOWED_SUFFIXES:
                assert client.get(address, {name + suffix: "0"}).status_code in (200, 302)
    events = reverse("admin:heatmaps_event_changelist")
    answer = client.get(events, {"kind": "publish"})
    assert [event.kind for event in answer.context["cl"].result_list] == ["publish"]


@pytest.mark.long
def test_no_page_depends_on_what_is_hidden(client_of, people, published):
    """Lists in every order, by every reference, searched for; rows with their histories; Django's finders."""
    ApiToken.objects.create(user=people["analyst"], name="laptop", scopes=["read"])
    for store in (seed.store_districts, seed.store_guide):
        store(people["steward"], published.dataset)
    move_events(29 * 60_000_000)
    client = client_of("administrator")
    searched = ("unmistakable",)
    addresses = list(every_address(searched))
    before = {address: shown(client.get(address)) for address in addresses}

    change_what_is_hidden(published)

    for address in addresses:
        assert shown(client.get(address)) == before[address], address
    assert sum(status == 200 for status, _ in before.values()) > 50


def every_address(searched):
    for model, model_admin in REGISTERED:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        changelist = reverse(f"{name}_changelist")
        columns = range(1, len(model_admin.list_display) + 1)
        yield from (f"{changelist}?o={column}" for column in columns)
        yield from (f"{changelist}?{query}" for query in ("all=1", "_facets=1", "_popup=1", "p=2"))
        yield from (f"{changelist}?q={word}" for word in searched)
        yield from (f"{changelist}?_to_field={field.name}" for field in model._meta.get_fields())
        row = model._base_manager.order_by("pk").first()
        for act in ("change", "history", "delete"):
            yield reverse(f"{name}_{act}", args=[row.pk])
        yield f"{reverse(f'{name}_change', args=[row.pk])}?_to_field={model._meta.pk.name}&_popup=1"
    yield from finders()


def finders():
    for model in apps.get_models():
        kind = ContentType.objects.get_for_model(model)
        yield from (f"/admin/r/{kind.pk}/{pk}/" for pk in (1, 999))
        for field in filter(lambda field: field.many_to_one, model._meta.fields):
            query = f"app_label={kind.app_label}&model_name={kind.model}&field_name={field.name}&term="
            yield f"/admin/autocomplete/?{query}"


def shown(answer):
    body = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", answer.content.decode())
    body = re.sub(r'nonce="[^"]+"', "", body)
    return answer.status_code, re.sub(r"\b(?:[a-z]{4}-){2}[a-z]{4}\b", "", body)  # ids of requests


def move_events(at_microseconds):
    drop_triggers()
    Event.objects.update(at_microseconds=at_microseconds)
    create_triggers()


def change_what_is_hidden(release):
    dataset = release.dataset
    others = User.objects.exclude(username="administrator")  # whom another password would sign out
    others.update(password="md5$other$hash", email="unmistakable@example.org", first_name="unmistakable")
    move_events(F("at_microseconds") + 1_000_000 * (50 - F("sequence")))  # in their minute
    Dataset.objects.update(key_fingerprint="unmistakable")
    DataVersion.objects.update(is_cleared=True)
    DistrictFile.objects.update(content=b"unmistakable")
    GuideFile.objects.update(shares=b"unmistakable")
    upload = dataset.uploads.get()
    CheckIn.objects.create(extent=upload.extents.create(first=1, last=2**40), person=1, cell=1)
    Enrolment.objects.create(dataset=dataset, person=2)
    with disabled((*FROZEN, *HELD, EXTENTS)):
        Release.objects.update(finished_at=None)
        Result.objects.update(content=b"unmistakable")
        Upload.objects.update(rows_accepted=1_234_567, file_name="unmistakable.csv", failure="unmistakable")
    opt_outs.opt_out(dataset.created_by, dataset, ["unmistakable"])
