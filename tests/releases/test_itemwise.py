"""emd-itemwise on a dataset of declared persons: charged on every account, drawn, published."""

import pytest

from heatmaps.releases import lifecycle
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation, Trust
from tests.services.draws import carry_out

ONE, DELTA_ONE = 10**12, 10**18
ASKED = {"mechanism": "emd-itemwise", "resolution": 16, "epsilon": "2"}


@pytest.fixture
def panel(make_dataset, add_checkins):
    """About 157 km across, 50 persons enrolled, radius 10 km."""
    limits = {"record": "19", "radius": "9", "delta": "0.0001"}
    made = make_dataset("panel", Relation.REPLACE, radius_m=10_000, limits=limits)
    add_checkins(made)
    return made


def test_it_is_charged_with_delta_and_more_for_a_whole_record(analyst, panel, ask):
    quote = lifecycle.quote(panel, ask(**ASKED, delta="0.00001"))
    assert quote.affordable
    assert quote.expected_error.emd_low < quote.expected_error.emd_median < quote.expected_error.emd
    release = lifecycle.request_release(analyst, panel, ask(**ASKED, delta="0.00001"))
    carry_out(release.pk)
    heatmap = lifecycle.heatmap_of(release)
    charged = {str(account.kind): account.committed for account in panel.accounts.all()}
    assert 2 * ONE * 0.999 < charged["radius"] <= 2 * ONE < charged["record"]
    assert charged["delta"] == DELTA_ONE // 10**5
    assert release.parameters["samples"] in (16, 64, 256)
    assert heatmap.dense().sum() == pytest.approx(1)


def test_the_quote_says_what_is_left_without_the_shuffler(panel, ask):
    quote = lifecycle.quote(panel, ask(**ASKED))
    assert (quote.guarantee.trust, quote.guarantee.simulated) == (Trust.CENTRAL, True)
    alone = quote.with_shuffler.if_shuffler_fails
    assert quote.with_shuffler.trust is Trust.SHUFFLE
    assert alone.loss(10_000) > quote.guarantee.loss(10_000)


def test_a_period_costs_a_whole_record_and_a_part_of_the_region_is_refused(panel, ask):
    whole, period = (lifecycle.quote(panel, ask(**ASKED, since=since)) for since in (None, "2020-01-01"))
    assert {line.kind: line.amount for line in period.lines}["radius"] == {
        line.kind: line.amount for line in whole.lines
    }["record"]
    with pytest.raises(ParameterError, match="rectangle"):
        lifecycle.quote(panel, ask(**ASKED, rectangle=[-98, 30, -97.9, 30.1]))
