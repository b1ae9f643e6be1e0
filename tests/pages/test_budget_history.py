"""Budget over time: every number of its charts and tables is a sum of charges of the ledger."""

import html
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from uuid import uuid4

import pytest
from django.urls import reverse

from heatmaps.budget.history import BudgetStep, History, histories_of
from heatmaps.ledger import transitions
from heatmaps.ledger.balances import balances
from heatmaps.models import AccountKind, Charge
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.views import charts
from heatmaps.views.budget.budget_chart import budget_chart

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
        steps.append(BudgetStep(release=uuid4(), at=NOON + index * apart, units=amount, total=total))
    return History(kind=AccountKind.PRESENCE, limit=limit, steps=tuple(steps))


def test_its_steps_are_the_charges_and_end_at_the_balance(dataset, ask, people):
    first, second, third = ask(dataset, "0.5", "0.25", "0.125")
    transitions.cancel(second.pk, actor=people["analyst"])
    (presence,) = histories_of(dataset)

    assert [(step.release, step.units, step.total) for step in presence.steps] == [
        (first.pk, ONE // 2, ONE // 2),
        (third.pk, ONE // 8, 5 * ONE // 8),
    ]
    assert presence.steps[-1].total == balances(dataset)[0].committed
    assert presence.limit == 2 * ONE


def test_every_account_with_charges_has_one_and_those_without_a_sum_have_none(panel, ask):
    ask(panel, "0.5", "0.25")
    held = {balance.kind: balance.committed for balance in balances(panel)}
    found = {one.kind: one.steps[-1].total for one in histories_of(panel)}

    assert found == {kind: committed for kind, committed in held.items() if committed}
    assert len(found) >= 2
    panel.accounts.filter(kind="radius").update(limit=None, unbounded=True)
    assert AccountKind.RADIUS not in {one.kind for one in histories_of(panel)}


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


def test_many_charges_are_thinned_and_none_of_the_sum_is_lost():
    drawn = budget_chart(history(*[ONE // 100] * 900, ONE, limit=20 * ONE))
    taken = drawn.lines[0]
    heights = {tick.text: float(tick.at) for tick in drawn.y_ticks}

    assert len(taken.points.split()) < 620
    assert float(taken.points.split()[-1].split(",")[1]) == pytest.approx(heights["10"], abs=0.11)


def test_a_dataset_without_charges_has_no_chart(client_of, dataset):
    page = client_of("analyst").get(reverse("dataset-budget", args=[dataset.slug])).content.decode()

    assert "<figure" not in page
    assert "Nothing about any person can be learned" in page
