"""The ledger's page, and the page that changes a limit."""

import pytest
from django.urls import reverse

from heatmaps.models import Account, Event

ONE = 10**12


@pytest.fixture
def change(client_of, dataset):
    def post(kind="presence", person="steward", **typed):
        account = dataset.accounts.get(kind=kind)
        seen = "" if account.limit is None else str(account.limit)
        address = reverse("limit-change", args=[dataset.slug, kind])
        return client_of(person).post(address, {"seen": seen, "reason": "agreed in May"} | typed)

    return post


def limit_of(dataset, kind="presence"):
    return dataset.accounts.get(kind=kind).limit


def test_it_shows_every_move_with_its_amounts(client_of, published, dataset):
    body = client_of("auditor").get(reverse("ledger", args=[dataset.slug])).content.decode()

    assert "Release published" in body
    assert "Budget reserved for a release" in body
    assert "committed of presence (ε):</span> 0 → 0.5" in body
    assert "charge to presence (ε):</span> 0.5" in body
    assert "limit of presence (ε):</span> 2" in body


def test_it_says_that_the_chain_verifies(client_of, published, dataset):
    body = client_of("auditor").get(reverse("ledger", args=[dataset.slug])).content.decode()

    assert f"all {Event.objects.count()} events hash to each other" in body


def test_it_says_where_the_chain_is_broken(client_of, published, dataset):
    Account.objects.filter(kind="presence").update(committed=1)

    body = client_of("auditor").get(reverse("ledger", args=[dataset.slug])).content.decode()

    assert "The chain does not verify" in body
    assert "account presence" in body


def test_it_pages_long_chains(client_of, dataset, change, monkeypatch):
    monkeypatch.setattr("heatmaps.views.budget.ledger.EVENTS_A_PAGE", 2)
    for limit in ("3", "4", "5"):
        change(limit=limit)
    address = reverse("ledger", args=[dataset.slug])

    first = client_of("auditor").get(address).context["rows"]
    last = client_of("auditor").get(address, {"page": "3"}).context["rows"]

    assert [line.sequence for line, _ in first] == [5, 4]
    assert [line.sequence for line, _ in last] == [1]


def test_it_verifies_a_long_chain_when_asked(client_of, dataset, monkeypatch):
    monkeypatch.setattr("heatmaps.views.budget.ledger.VERIFIED_UNASKED", 0)
    address = reverse("ledger", args=[dataset.slug])

    assert "not verified for this page" in client_of("auditor").get(address).content.decode()
    assert "The chain verifies" in client_of("auditor").get(address, {"verify": "1"}).content.decode()


@pytest.mark.parametrize("person", ["steward", "administrator"])
def test_it_changes_a_limit_for_a_reason(change, client_of, dataset, person):
    answer = change(person=person, limit="2.5")

    assert answer["Location"] == reverse("ledger", args=[dataset.slug])
    assert limit_of(dataset) == 25 * 10**11
    body = client_of("auditor").get(reverse("ledger", args=[dataset.slug])).content.decode()
    assert "limit of presence (ε):</span> 2 → 2.5" in body
    assert "agreed in May" in body


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"limit": "3", "reason": ""}, "reason"),
        ({"limit": "3", "reason": "   "}, "reason"),
        ({"limit": ""}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "nan"}, "limit"),
        ({"limit": "0.0000000000001"}, "limit"),
        ({"limit": "1e30"}, "limit"),
        ({"limit": "3", "seen": "7"}, "limit"),
        ({"limit": "3", "seen": "x"}, "seen"),
    ],
)
def test_it_changes_nothing_when_something_is_wrong(change, dataset, typed, field):
    answer = change(**typed)

    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert limit_of(dataset) == 2 * ONE
    assert Event.objects.filter(kind="limit").count() == 0


def test_it_does_not_go_below_what_is_spent(change, published, dataset):
    answer = change(limit="0.4")

    assert "cannot go below" in str(answer.context["form"].errors)
    assert limit_of(dataset) == 2 * ONE


def test_it_does_not_know_accounts_of_the_other_relation(client_of, dataset):
    address = reverse("limit-change", args=[dataset.slug, "radius"])

    assert client_of("steward").get(address).status_code == 404


def test_it_asks_for_a_token_against_forged_forms(client_of, dataset):
    client = client_of("steward", enforce_csrf_checks=True)
    address = reverse("limit-change", args=[dataset.slug, "presence"])

    assert client.post(address, {"limit": "9", "reason": "x"}).status_code == 403
    assert limit_of(dataset) == 2 * ONE
