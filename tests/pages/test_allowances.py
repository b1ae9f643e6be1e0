"""Pages of allowances and of where a budget went; alerts and forecasts where releases are asked for."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from structlog.testing import capture_logs

from heatmaps.budget import alerts, allowances
from heatmaps.ledger.errors import AllowanceExceeded
from heatmaps.models import Event, Membership, Release
from heatmaps.releases import lifecycle, sweep
from heatmaps.releases.epsilon import forecast
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.catalogue import registry
from tests.services.draws import carry_out

AMOUNT = {"account": "presence", "rule": "amount", "amount": "0.5", "reason": "a share each"}


@pytest.fixture
def change(client_of, dataset):
    def post(person="steward", **typed):
        address = reverse("allowances", args=[dataset.slug])
        return client_of(person).post(address, AMOUNT | typed)

    return post


@pytest.fixture
def ask(people, dataset):
    def make(epsilon="0.5", person="analyst"):
        request = ReleaseRequest(mechanism="sparse-emd", epsilon=epsilon, resolution=16)
        return lifecycle.request_release(people[person], dataset, request)

    return make


def page(client, name, dataset, **query):
    return client.get(reverse(name, args=[dataset.slug]), query).content.decode()


@pytest.mark.parametrize("person", ["steward", "administrator"])
def test_it_changes_an_allowance_for_a_reason(change, client_of, dataset, person):
    assert change(person, analyst="analyst")["Location"] == reverse("allowances", args=[dataset.slug])
    assert "a share each" in page(client_of("auditor"), "ledger", dataset)
    assert "0.5" in page(client_of("analyst"), "allowances", dataset)


def test_the_ledger_names_whose_allowance_it_was(change, client_of, dataset):
    change(analyst="analyst")
    change(amount="0.75")

    for person in ("steward", "auditor", "administrator"):
        told = page(client_of(person), "ledger", dataset)
        assert "allowance of analyst on" in told
        assert "allowance of everyone on" in told


@pytest.mark.parametrize("person", ["analyst", "auditor"])
def test_it_lets_nobody_else_change_one(change, client_of, dataset, person):
    assert change(person).status_code == 403
    assert not Event.objects.filter(kind="allowance").exists()
    assert "Change an allowance" not in page(client_of(person), "allowances", dataset)


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"amount": ""}, "amount"),
        ({"amount": "-1"}, "amount"),
        ({"amount": "0.0000000000001"}, "amount"),
        ({"rule": "default"}, "rule"),
        ({"account": "radius"}, "account"),
        ({"analyst": "stranger"}, "analyst"),
        ({"reason": " "}, "reason"),
    ],
)
def test_it_changes_nothing_when_something_is_wrong(change, typed, field):
    answer = change(**typed)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not Event.objects.filter(kind="allowance").exists()


def test_it_shows_an_analyst_no_others(client_of, people, dataset):
    Membership.objects.create(dataset=dataset, user=User.objects.create_user("colleague"), role="analyst")
    for name in ("allowances", "spending"):
        assert "colleague" not in page(client_of("analyst"), name, dataset)
    assert "colleague" in page(client_of("auditor"), "allowances", dataset)


def test_it_refuses_beyond_an_allowance_and_says_so_before(change, client_of, dataset, ask, question):
    change(analyst="analyst", amount="0.6")
    ask("0.5")
    with pytest.raises(AllowanceExceeded):
        ask("0.25")
    shown = page(client_of("analyst"), "release-new", dataset, **question(epsilon="0.25"))
    assert "of your allowance is left" in shown
    assert "Spend and publish" not in shown
    ask("0.25", person="steward")


def test_an_answer_that_is_there_takes_of_no_allowance(change, people, dataset, published, ask):
    change(analyst="analyst", amount="0")
    assert ask("0.5").pk == published.pk
    assert allowances.own(dataset, people["analyst"])["presence"].committed == 5 * 10**11


@pytest.mark.parametrize(("epsilon", "count"), [("0.5", 3), ("0.7", 1), ("1.5", 0), ("2", 0)])
def test_it_forecasts_as_many_as_the_ledger_then_grants(dataset, people, ask, epsilon, count):
    request = ReleaseRequest(mechanism="sparse-emd", epsilon=epsilon, resolution=16)
    quote = lifecycle.quote(dataset, request)
    found = forecast.forecast(dataset, people["analyst"], quote)
    assert found.overall == count
    assert [line.count for line in found.lines] == [count, None]  # nothing is taken of δ
    for _ in range(count + 1):
        ask(epsilon)
    assert not lifecycle.quote(dataset, request).affordable


def test_it_forecasts_under_an_allowance(change, client_of, dataset, question):
    change(analyst="analyst", amount="1")
    shown = page(client_of("analyst"), "release-new", dataset, **question(epsilon="0.25"))
    assert "3 more releases like it" in shown


def test_it_names_who_took_what_to_those_who_read_the_ledger(client_of, dataset, ask):
    ask("0.5")
    ask("0.25", person="steward")
    auditors = page(client_of("auditor"), "spending", dataset)
    assert registry.get("sparse-emd").title in auditors
    assert all(text in auditors for text in ("0.75 used", "66.67", "33.33"))
    assert ">analyst</th>" in auditors
    analysts = page(client_of("analyst"), "spending", dataset)
    assert all(f">{name}</th>" in analysts for name in ("you", "others"))
    assert ">steward</th>" not in analysts


def test_it_forgets_what_was_cancelled(start_later, people, client_of, dataset, ask):
    lifecycle.cancel(people["analyst"], ask("0.5"))
    assert "Nothing yet." in page(client_of("auditor"), "spending", dataset)


@pytest.mark.parametrize(
    ("taken", "limit", "level"),
    [(0, 0, 0), (1, 0, 100), (79, 100, 0), (80, 100, 80), (94, 100, 80), (95, 100, 95), (100, 100, 100)],
)
def test_it_knows_the_levels(taken, limit, level):
    assert alerts.level(taken, limit) == level
    assert alerts.level(taken, None) == 0


def test_it_warns_everywhere_and_logs_each_crossing_once(client_of, dataset, ask):
    with capture_logs() as lines:
        for epsilon in ("1.5", "0.125", "0.0625", "0.25", "0.0625"):
            ask(epsilon)
    told = [line for line in lines if line["event"] == "budget.low"]
    assert [line["percent"] for line in told] == [80, 95, 100]
    assert all(set(line) == {"event", "log_level", "dataset", "account", "percent"} for line in told)
    for name in ("dataset", "ledger", "release-new", "spending"):
        assert "All of the limit of presence (ε) is used." in page(client_of("steward"), name, dataset)
    assert "100 % used" in client_of("analyst").get(reverse("datasets")).content.decode()


def test_it_warns_of_ones_own_allowance(change, client_of, dataset, ask):
    change(analyst="analyst", amount="0.5")
    ask("0.5")
    assert "All of your allowance of" in page(client_of("analyst"), "dataset", dataset)
    assert "your allowance" not in page(client_of("auditor"), "dataset", dataset)


def test_it_filters_the_ledger(client_of, dataset, ask):
    ask("0.5")
    ask("0.25", person="steward")
    client = client_of("auditor")
    address = reverse("ledger", args=[dataset.slug])

    def kinds(**query):
        return [line.title for line, _ in client.get(address, query).context["rows"]]

    assert len(kinds(kind="reserve")) == 2
    assert len(kinds(kind="reserve", person="analyst")) == 1
    assert kinds(day="1999-01-01") == []
    assert len(kinds(day=f"{Release.objects.first().requested_at:%Y-%m-%d}", kind="reserve")) == 2
    assert len(kinds(day="yesterday", kind="nonsense")) == Event.objects.count()


def test_it_keeps_the_filter_on_the_next_page(client_of, dataset, ask, monkeypatch):
    monkeypatch.setattr("heatmaps.views.budget.ledger.EVENTS_A_PAGE", 1)
    ask("0.5")
    ask("0.25")
    assert "?page=2&amp;kind=reserve" in page(client_of("auditor"), "ledger", dataset, kind="reserve")


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("person", ["steward", "auditor"])
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_it_gives_the_ledger_as_a_file(client_of, dataset, person, suffix):
    secret = person == "steward"
    answer = client_of(person).get(reverse("ledger-file", args=[dataset.slug, suffix]))
    text = b"".join(answer.streaming_content).decode()
    assert "attachment" in answer["Content-Disposition"]
    assert ("at_microseconds" in text) == secret
    assert (Event.objects.latest("sequence").salt in text) == secret
    if suffix == "csv":
        assert len(list(csv.reader(io.StringIO(text, newline="")))) == 1 + Event.objects.count()


def test_it_gives_the_ledger_to_no_analyst_and_in_no_other_form(client_of, dataset):
    assert client_of("analyst").get(reverse("ledger-file", args=[dataset.slug, "csv"])).status_code == 403
    assert client_of("auditor").get(reverse("ledger-file", args=[dataset.slug, "xls"])).status_code == 404


def test_it_says_that_a_queued_release_expired(client_of, queued):
    address = reverse("release", args=[queued.pk])
    Release.objects.filter(pk=queued.pk).update(expires_at=queued.requested_at)
    carry_out(queued.pk)
    sweep.sweep()
    shown = client_of("analyst").get(address).content.decode()
    assert "expired: its draw had not begun" in shown
    assert not Event.objects.filter(kind="spend").exists()
