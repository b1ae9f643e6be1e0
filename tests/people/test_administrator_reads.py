"""What administrators who are no members open is on record for the stewards, and stays as it was written."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.urls import reverse

from heatmaps.admin import site
from heatmaps.ledger import administrator_reads
from heatmaps.ledger.administrator_reads import first_problem
from heatmaps.models import AdministratorRead
from heatmaps.people import invitations
from heatmaps.releases import publication
from tests.conftest import drop_triggers
from tests.services import seed

# Models of the administration whose rows tell of no dataset.
OF_NO_DATASET = {"ApiToken", "User"}


@pytest.fixture
def clock(monkeypatch):
    """Seconds since 1970, which the test moves."""
    now = [1_700_000_000]
    monkeypatch.setattr("heatmaps.ledger.administrator_reads.time.time", lambda: now[0])
    return now


def pages():
    return list(AdministratorRead.objects.order_by("sequence").values_list("page", flat=True))


def test_the_same_page_leaves_one_row_a_minute(client_of, dataset, clock):
    ledger = reverse("ledger", args=[dataset.slug])
    client = client_of("administrator")
    for _ in range(5):
        client.get(ledger)
    client.get(reverse("people", args=[dataset.slug]))
    clock[0] += 59
    client.get(ledger)
    assert pages() == ["ledger", "people"]
    clock[0] += 1
    client.get(ledger)
    assert pages() == ["ledger", "people", "ledger"]


def test_a_row_holds_no_query(client_of, dataset):
    client_of("administrator").get(reverse("ledger", args=[dataset.slug]), {"person": "unmistakable"})
    [row] = AdministratorRead.objects.values()
    assert row["page"] == "ledger"
    assert "unmistakable" not in str(row)


def test_a_refused_page_leaves_none(client_of, dataset):
    assert client_of("administrator").get(reverse("schedule", args=[dataset.slug])).status_code == 403
    assert pages() == []


def test_members_leave_none_also_when_they_are_administrators(client_of, people, dataset):
    dataset.memberships.create(user=people["administrator"], role="auditor")
    for person in ("steward", "auditor", "administrator"):
        client_of(person).get(reverse("ledger", args=[dataset.slug]))
    assert pages() == []


def test_a_public_release_leaves_one_too(client_of, people, published):
    """Its page shows an administrator more than it shows everybody."""
    publication.set_public(people["steward"], published, public=True)
    client_of("administrator").get(reverse("release", args=[published.pk]))
    assert pages() == ["release"]


def test_using_an_administrators_link_is_no_read(client_of, people, dataset):
    """Whether its maker may still invite is asked while another person reads."""
    made = invitations.invite(people["administrator"], dataset, "analyst")
    before = pages()
    client_of("stranger").get(reverse("invitation", args=[made.secret]))
    assert pages() == before


def test_every_list_and_row_of_the_administration_leaves_one(client_of, people, published):
    for store in (seed.store_districts, seed.store_guide):
        store(people["steward"], published.dataset)
    client = client_of("administrator")
    for model, model_admin in site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        if model.__name__ in OF_NO_DATASET:
            assert model_admin.dataset_path == ""
            continue
        row = model_admin.get_queryset(None).first()
        for act, arguments in (("changelist", []), ("change", [row.pk]), ("history", [row.pk])):
            client.get(reverse(f"{name}_{act}", args=arguments))
            read = AdministratorRead.objects.get(page=f"{name}_{act}")
            assert read.dataset == published.dataset
    assert AdministratorRead.objects.count() == 3 * (len(site._registry) - len(OF_NO_DATASET))


def test_an_accounts_page_that_lists_memberships_leaves_one(client_of, people, dataset):
    client_of("administrator").get(reverse("account-of", args=[people["analyst"].pk]))
    assert pages() == ["account-of"]


def test_stewards_alone_see_the_list(client_of, dataset):
    page = reverse("people", args=[dataset.slug])
    client_of("administrator").get(reverse("ledger-file", args=[dataset.slug, "csv"]))
    assert "<code>ledger-file</code>" in client_of("steward").get(page).content.decode()
    for person in ("analyst", "auditor", "administrator"):
        assert "Opened by administrators" not in client_of(person).get(page).content.decode()


def test_nothing_is_shown_when_the_row_cannot_be_written(client_of, dataset, monkeypatch):
    def refuse(*_arguments, **_options):
        raise RuntimeError("no room")

    monkeypatch.setattr(administrator_reads, "_append", refuse)
    client = client_of("administrator", raise_request_exception=False)
    assert client.get(reverse("ledger", args=[dataset.slug])).status_code == 500


STATEMENTS = {
    "update": "UPDATE heatmaps_administratorread SET page = 'x'",
    "delete": "DELETE FROM heatmaps_administratorread",
    "replace by number": "INSERT OR REPLACE INTO heatmaps_administratorread SELECT * FROM "
    "heatmaps_administratorread",
    "replace by place": "INSERT OR REPLACE INTO heatmaps_administratorread (dataset_id, sequence, "
    "at_seconds, reader_id, page, previous_hash, hash) SELECT dataset_id, sequence, 0, reader_id, page, "
    "previous_hash, hash FROM heatmaps_administratorread",
    "truncate": "TRUNCATE heatmaps_administratorread",
}
ELSEWHERE = {"sqlite": {"truncate"}, "postgresql": {"replace by number", "replace by place"}}


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_database_refuses_to_change_them(people, dataset, name):
    if name in ELSEWHERE[connection.vendor]:
        pytest.skip(f"{connection.vendor} has no such statement")
    administrator_reads.record(people["administrator"], [dataset.pk])
    before = list(AdministratorRead.objects.values())
    connection.check_constraints()
    with (
        pytest.raises(DatabaseError, match="never changed or deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(STATEMENTS[name])
    assert list(AdministratorRead.objects.values()) == before


@pytest.mark.parametrize(
    ("forge", "problem"),
    [
        (lambda rows: None, ""),
        (lambda rows: rows.filter(sequence=2).delete(), "read 2 by an administrator is missing"),
        (lambda rows: rows.filter(sequence=2).update(at_seconds=5), "read 2 by an administrator was changed"),
        (lambda rows: rows.filter(sequence=2).update(page="x"), "read 2 by an administrator was changed"),
        (
            lambda rows: rows.filter(sequence=1).update(hash="0" * 64),
            "read 1 by an administrator was changed",
        ),
    ],
)
def test_verify_ledger_names_the_first_row_that_was_touched(people, dataset, clock, forge, problem):
    for _ in range(3):
        administrator_reads.record(people["administrator"], [dataset.pk])
        clock[0] += 60
    drop_triggers()
    forge(AdministratorRead.objects)

    assert first_problem(dataset) == problem
    told = io.StringIO()
    if problem:
        with pytest.raises(CommandError, match="1 ledger does not verify"):
            call_command("verify-ledger", dataset.slug, stdout=told)
    else:
        call_command("verify-ledger", dataset.slug, stdout=told)
    assert problem in told.getvalue()
