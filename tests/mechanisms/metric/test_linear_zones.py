"""emd-zones: answers are means of soft zones, shares stay shares, and what zones are."""

import json

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.metric.linear.answers import PARTS, AnswerSums
from mechanisms.records.aggregation import item_records
from mechanisms.results.zones import Zones
from tests.geojson import zone
from tests.mechanisms.examples import SEED
from tests.mechanisms.linear import APART, BOXES, NEAR, boxes, read, zones


def test_answers_are_means_of_soft_zones():
    made = zones(APART)
    lat, lon = (30.22, 30.2 - 400 / 110_900, 30.1), (-97.78,) * 3
    answers = made.answers(read(made, (np.array(lat), np.array(lon))))[0] / PARTS
    assert answers == pytest.approx([(1 + 0.5 + 0) / 3, 0], abs=2e-3)
    everybody = read(made, *[(np.array([30.22]), np.array([-97.78]))] * 2)
    assert made.sums(everybody).sums == (2 * PARTS, 0)
    nobody = item_records(persons=[], cells=[], counts=[], level=made.level)
    assert AnswerSums.total_of([made.sums(everybody), made.sums(nobody)]).sums == (2 * PARTS, 0)
    with pytest.raises(ParameterError, match="records"):
        made.sums(item_records(persons=[], cells=[], counts=[], level=3))


def test_shares_are_of_all_enrolled_and_stay_shares():
    made = zones(APART, epsilon=10**6, persons=4)
    shares = made.release(AnswerSums(sums=(2 * PARTS, -PARTS)), SeededSource(SEED))
    assert shares.shares == pytest.approx((0.5, 0), abs=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "FeatureCollection", "features": []},
        zone("a line", [[-97.8, 30.2], [-97.7, 30.2], [-97.8, 30.2]]),
        zone("nowhere", [[0, 0], [1, 0], [1, 1]]),
        zone("x" * 61, [[-97.8, 30.2], [-97.7, 30.2], [-97.7, 30.3]]),
        zone("text", [["-97.8", 30.2], [-97.7, 30.2], [-97.7, 30.3]]),
        zone("far", [[1e300, 30.2], [-97.7, 30.2], [-97.7, 30.3]]),
        json.dumps(zone("nan", [[float("nan"), 30.2], [-97.7, 30.2], [-97.7, 30.3]])),
        boxes(BOXES * 5),
        5,
    ],
)
def test_what_are_no_zones_is_refused(wrong):
    with pytest.raises(ParameterError, match="zones"):
        zones(wrong)


def test_zones_have_one_spelling():
    spelled = Zones.parse(NEAR)
    assert Zones.parse(json.dumps(NEAR)) == spelled == Zones.parse(spelled.text)
    assert [zone.name for zone in spelled] == ["box 0", "box 1", "box 2"]
    assert spelled.zones[0].degrees[0] == spelled.zones[0].degrees[-1] == (-97.8, 30.2)
