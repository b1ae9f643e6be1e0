"""Nobody makes a release, its charge or its history go away."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError
from django.urls import reverse

from heatmaps.ledger.verification import verify
from heatmaps.models import Account, Charge, Dataset, Event, Ledger, Release, RequestKey, Result

EVERYBODY = ("steward", "analyst", "auditor", "administrator", "stranger", "anonymous")
LEDGER = (Account, Charge, Event, Ledger, Release, RequestKey, Result)
# Their rows hold others, or triggers hold them: the database refuses whoever would delete them.
HELD = (
    *("heatmaps_release", "heatmaps_account", "heatmaps_dataset", "heatmaps_event", "heatmaps_dataversion"),
    *("heatmaps_charge", "heatmaps_result"),
)


def delete_all(table):
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table}")
    connection.check_constraints()


def rows():
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in LEDGER}


@pytest.mark.parametrize("person", EVERYBODY)
def test_the_api_deletes_nothing(api, dataset, published, person):
    addresses = dict.fromkeys(("dataset", "releases", "ledger", "budget"), (dataset.slug,))
    addresses |= {"release": (published.pk,), "heatmap": (published.pk, "npy")}
    client, before = api(person), rows()
    for name, about in addresses.items():
        answer = client.send("DELETE", name, *about)

        assert answer.status_code == (401 if person == "anonymous" else 405), name
        assert rows() == before, name


@pytest.mark.parametrize("person", EVERYBODY)
def test_no_page_deletes_anything(client_of, addresses, person):
    client, before = client_of(person), rows()
    for address in addresses.values():
        assert client.delete(address).status_code in {302, 403, 404, 405}, address
    assert rows() == before


@pytest.mark.parametrize("person", EVERYBODY)
def test_the_administration_deletes_nothing(client_of, published, person):
    client, before = client_of(person), rows()
    for model in (Release, Charge, Result, Event, Account, Dataset):
        row, name = model.objects.first(), f"admin:heatmaps_{model._meta.model_name}"

        deleted = client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"})
        selection = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}
        listed = client.post(reverse(f"{name}_changelist"), selection)

        assert deleted.status_code in {302, 403}, name
        assert listed.status_code in {200, 302, 403}, name
        assert rows() == before, name


def test_an_administrator_cannot_delete_whoever_asked(client_of, people, published):
    """With the account would go the name behind events and releases."""
    before = rows()
    for name in ("analyst", "steward"):
        with pytest.raises((ProtectedError, DatabaseError)), transaction.atomic():
            people[name].delete()
    assert rows() == before


@pytest.mark.parametrize("model", [Release, Account, Dataset, Event])
def test_the_models_protect_each_other(published, model):
    before = rows()
    with pytest.raises((ProtectedError, DatabaseError)), transaction.atomic():
        model.objects.all().delete()
    assert rows() == before


@pytest.mark.parametrize("table", HELD)
def test_the_database_refuses_sql(published, table):
    before = rows()
    with pytest.raises(DatabaseError), transaction.atomic():
        delete_all(table)
    assert rows() == before


@pytest.mark.unguarded
@pytest.mark.parametrize(
    "statements",
    [
        ["DELETE FROM heatmaps_charge"],
        ["DELETE FROM heatmaps_charge", "UPDATE heatmaps_account SET committed = 0"],
        ["UPDATE heatmaps_account SET committed = 0"],
        ["DELETE FROM heatmaps_result"],
        ["UPDATE heatmaps_release SET state = 'cancelled'"],
        ['UPDATE heatmaps_account SET "limit" = 9000000000000'],
    ],
    ids=lambda statements: statements[-1][:40],
)
def test_what_the_database_cannot_refuse_is_found(published, dataset, statements):
    """Somebody with the database in hand, who may drop triggers: the events say what was there."""
    assert verify(dataset).ok
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)

    assert verify(dataset).problem
