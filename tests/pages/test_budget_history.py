"""Budget over time: every number of its charts and tables is a sum of charges of the ledger."""

import html
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from heatmaps.budget import charge_list
from heatmaps.budget.history import MOST_STEPS, BudgetStep, History, histories_of, restored_charges
from heatmaps.ledger import transitions
from heatmaps.ledger.balances import balances
from heatmaps.models import AccountKind, Charge, Restoration, RestoredCharge
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.views import charts
from heatmaps.views.budget import budget
from heatmaps.views.budget.budget_chart import budget_chart
from tests.services import seed

ONE = 10**12
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ask(people, start_later):
    def make(dataset, *epsilons, mechanism="laplace"):
        asked = [ReleaseRequest(mechanism=mechanism, epsilon=epsilon, resolution=16) for epsilon in epsilons]
        return [lifecycle.request_release(people["analyst"], dataset, request) for request in asked]

    return make


def history(*units, limit=None, apart=timedelta(hours=5)):
    steps, total = [], 0
    for index, amount in enumerate(units):
        total += amount
        steps.append(BudgetStep(at=NOON + index * apart, total=total))
    first, last = steps[0].at, steps[-1].at
    span = {"first": first, "last": last, "charges": len(steps)}
    return History(kind=AccountKind.PRESENCE, limit=limit, steps=tuple(steps), **span)


def read(dataset):
    """Its accounts that were charged, their histories, and what was charged after restores."""
    accounts = list(dataset.accounts.order_by("pk"))
    restored = restored_charges(accounts)
    histories = histories_of(accounts, restored)
    return [account for account in accounts if account.pk in histories], histories, restored


def listed(dataset, charges=slice(None)):
    accounts, histories, restored = read(dataset)
    moments = list(charge_list.moments_of(accounts, restored))[charges]
    latest = charge_list.moments_of(accounts, restored)[0] == moments[0]
    return charge_list.charges_at(moments, accounts, histories, restored, is_latest=latest)


def test_its_steps_end_at_the_balance(dataset, ask, people):
    _, second, _ = ask(dataset, "0.5", "0.25", "0.125")
    transitions.cancel(second.pk, actor=people["analyst"])
    _, histories, _ = read(dataset)
    [presence] = histories.values()

    assert presence.steps[-1].total == balances(dataset)[0].committed == 5 * ONE // 8
    assert presence.limit == 2 * ONE


def test_its_list_has_each_charge_and_the_sum_by_then(dataset, ask, people):
    first, second, third = ask(dataset, "0.5", "0.25", "0.125")
    transitions.cancel(second.pk, actor=people["analyst"])
    [account], _, _ = read(dataset)

    assert [(row.release, row.units, row.totals) for row in listed(dataset)] == [
        (third.pk, {account.pk: ONE // 8}, {account.pk: 5 * ONE // 8}),
        (first.pk, {account.pk: ONE // 2}, {account.pk: ONE // 2}),
    ]
    assert listed(dataset, slice(1, 2)) == listed(dataset)[1:]


def test_every_account_with_charges_has_one_and_those_without_a_sum_have_none(panel, ask):
    ask(panel, "0.5", "0.25")
    held = {balance.kind: balance.committed for balance in balances(panel)}
    _, histories, _ = read(panel)
    totals = {history.kind: history.steps[-1].total for history in histories.values()}

    assert totals == {kind: committed for kind, committed in held.items() if committed}
    assert len(totals) >= 2
    panel.accounts.filter(kind="radius").update(limit=None, unbounded=True)
    _, histories, _ = read(panel)
    assert AccountKind.RADIUS not in {history.kind for history in histories.values()}


def test_the_page_tells_each_charge_and_its_sum_exactly(client_of, dataset, ask):
    ask(dataset, "0.5", "0.123456789", "0.25")
    page = html.unescape(
        client_of("analyst").get(reverse("dataset-budget", args=[dataset.slug])).content.decode()
    )
    cells = re.findall(r'data-label="(?:presence \(ε\)|Sum)">(?:<data value="([\d.]+)"[^>]*>)?([\d.]+)', page)
    told = [Fraction(exact or shown) for exact, shown in cells]
    charged = [Fraction(row.amount, ONE) for row in Charge.objects.filter(amount__gt=0).order_by("-pk")]

    assert told[0::2] == charged
    assert told[1::2] == [sum(charged[index:]) for index in range(len(charged))]


def test_the_chart_goes_up_at_each_charge_by_what_it_took():
    drawn = budget_chart(history(ONE, ONE // 2, limit=4 * ONE))
    taken, limit = drawn.lines
    heights = {tick.text: float(tick.at) for tick in drawn.y_ticks}
    one = (heights["0"] - heights["4"]) / 4  # in units of the picture
    markers = [(float(x), heights["0"] - float(y)) for x, y in taken.markers]
    corners = [tuple(map(float, point.split(","))) for point in taken.points.split()]

    assert [height for _, height in markers] == pytest.approx([one, 1.5 * one], abs=0.11)
    assert [heights["0"] - y for _, y in corners] == pytest.approx(
        [0, 0, one, one, 1.5 * one, 1.5 * one], abs=0.11
    )
    assert corners[1][0] == corners[2][0] == markers[0][0] < corners[3][0] == corners[4][0] == markers[1][0]
    assert {point.split(",")[1] for point in limit.points.split()} == {f"{heights['4']:.1f}"}
    assert (corners[0][0], corners[-1][0]) == (charts.LEFT, charts.RIGHT)


@pytest.mark.parametrize(
    ("apart", "words", "axis"),
    [
        (timedelta(minutes=10), ["11:30", "12:00", "12:30"], "2026-03-01, UTC"),
        (timedelta(hours=13), ["2 Mar"], "2026, UTC"),  # a time of day would not say of which
        (timedelta(hours=30), ["2 Mar", "3 Mar", "4 Mar"], "2026, UTC"),
        (timedelta(days=40), ["Mar 2026", "Apr 2026", "May 2026"], "2026, UTC"),
        (timedelta(days=500), ["Jan 2026", "Jan 2027", "Jan 2028", "Jan 2029"], "2025 to 2029, UTC"),
    ],
)
def test_its_dates_are_round_and_few(apart, words, axis):
    drawn = budget_chart(history(ONE, ONE, ONE, apart=apart))

    assert ([tick.text for tick in drawn.x_ticks], drawn.x.title) == (words, axis)


def test_a_date_stands_where_its_moment_is():
    drawn = budget_chart(history(ONE, ONE, apart=timedelta(days=2)))
    (first, _), (last, _) = drawn.lines[0].markers
    places = {tick.text: float(tick.at) for tick in drawn.x_ticks}
    day = (float(last) - float(first)) / 2

    assert places["2 Mar"] - float(first) == pytest.approx(day / 2, abs=0.2)


def test_many_charges_are_summed_by_parts_of_the_time(dataset, ask, monkeypatch):
    [release] = ask(dataset, "0.01")
    for number in range(1, 300):
        moment = release.requested_at + number * timedelta(hours=7)
        monkeypatch.setattr(timezone, "now", lambda moment=moment: moment)
        seed.copied(release)
    [account], histories, _ = read(dataset)
    steps = histories[account.pk].steps

    assert 100 < len(steps) <= MOST_STEPS
    assert steps[-1] == BudgetStep(at=release.requested_at + 299 * timedelta(hours=7), total=3 * ONE)
    for step in steps:  # each stands where something was charged, with all that was charged by then
        number, between = divmod(step.at - release.requested_at, timedelta(hours=7))
        assert not between
        assert step.total == (number + 1) * ONE // 100


def test_a_page_has_as_many_queries_with_many_charges_as_with_few(client_of, dataset, ask):
    first, _ = ask(dataset, "0.01", "0.02")
    client, address = client_of("analyst"), reverse("dataset-budget", args=[dataset.slug])
    client.get(address)
    counts = []
    for copies in (0, 10):
        for _ in range(copies):
            seed.copied(first)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 23


def test_what_was_charged_after_a_restore_is_in_the_list_and_in_the_steps(dataset, ask):
    first, second = ask(dataset, "0.5", "0.25")
    between = first.requested_at + (second.requested_at - first.requested_at) / 2
    restoration = Restoration.objects.create(
        dataset=dataset, known_until=between, resumed_at=between, opt_outs_replayed=True
    )
    account = dataset.accounts.get(kind=AccountKind.PRESENCE)
    RestoredCharge.objects.create(restoration=restoration, account=account, amount=ONE // 8)
    rows = listed(dataset)

    assert [(row.release, row.totals[account.pk]) for row in rows] == [
        (second.pk, 7 * ONE // 8),
        (None, 5 * ONE // 8),
        (first.pk, ONE // 2),
    ]
    for start in range(3):
        assert listed(dataset, slice(start, start + 1)) == rows[start : start + 1]
    _, histories, _ = read(dataset)
    assert histories[account.pk].steps[-1].total == 7 * ONE // 8


def test_what_a_restore_took_of_an_account_without_a_sum_is_no_line(dataset, ask, client_of, monkeypatch):
    """Else the line would be empty, and the first release on no page."""
    monkeypatch.setattr(budget, "CHARGES_A_PAGE", 2)
    asked = ask(dataset, "0.5", "0.25")
    dataset.accounts.filter(kind=AccountKind.DELTA).update(unbounded=True, limit=None)
    now = asked[-1].requested_at
    restoration = Restoration.objects.create(
        dataset=dataset, known_until=now, resumed_at=now, confirmed_at=now, opt_outs_replayed=True
    )
    for kind, amount in ((AccountKind.PRESENCE, 0), (AccountKind.DELTA, ONE)):
        account = dataset.accounts.get(kind=kind)
        RestoredCharge.objects.create(restoration=restoration, account=account, amount=amount)

    lines = client_of("analyst").get(reverse("dataset-budget", args=[dataset.slug])).context["lines"]

    assert [line.line and line.line.release for line in lines] == [*reversed(asked)]


def test_a_dataset_without_charges_has_no_chart(client_of, dataset):
    page = client_of("analyst").get(reverse("dataset-budget", args=[dataset.slug])).content.decode()

    assert "<figure" not in page
    assert "Nothing about any person can be learned" in page
