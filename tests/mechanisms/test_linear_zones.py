"""emd-zones: no pair of records moves answers farther than claimed, noise is as promised, faults are seen."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.audit import audited
from mechanisms.check import ParameterError
from mechanisms.experiments.seeded import SeededSource
from mechanisms.grid import FINEST_LEVEL
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.interface import Target
from mechanisms.metric.linear_answers import PARTS, AnswerSums
from mechanisms.metric.linear_zones import EmdZones
from mechanisms.records import item_records
from mechanisms.zones import WITHIN_ERRORS, Zones, ZoneShares
from tests.mechanisms.examples import SEED
from tests.mechanisms.test_linear_release import BOXES, CITY, emd_m, records


def polygon(name, ring):
    return {
        "type": "Feature",
        "properties": {"name": name},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


def collection(boxes):
    rings = [[[w, s], [e, s], [e, n], [w, n], [w, s]] for w, s, e, n in map(tuple, boxes)]
    return {
        "type": "FeatureCollection",
        "features": [polygon(f"box {at}", ring) for at, ring in enumerate(rings)],
    }


NEAR = collection(BOXES)  # two of three touch: k = 2, one noise for all
APART = collection((BOXES[0], BOXES[2]))  # k = 1: noise on each


def mechanism(zones=NEAR, kind=EmdZones, *, epsilon=1, radius_m=400, persons=3, **parameters):
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(epsilon), radius_m=Fraction(radius_m))
    return kind.calibrate(
        target, region=CITY, persons=persons, zones=zones, **({"margin_m": Fraction(800)} | parameters)
    )


def read(made, *several):
    """Records of (latitudes, longitudes), one a person."""
    persons = np.repeat(np.arange(len(several)), [len(lat) for lat, _ in several])
    lat, lon = (np.concatenate(parts) for parts in zip(*several, strict=True))
    cells = CITY.morton(lat, lon, FINEST_LEVEL)
    return item_records(persons=persons, cells=cells, counts=np.ones_like(cells), level=made.level)


@pytest.mark.parametrize(("zones", "order"), [(NEAR, 2), (APART, 1)], ids=["k-norm", "laplace"])
def test_no_pair_of_records_moves_the_answers_farther_than_claimed(zones, order):
    made = mechanism(zones)
    assert made.uses_laplace == (order == 1)
    # A shift of D parts costs D/scale; K-norm one more (`k_norm`).
    term, scale = made.guarantee.terms[0], float(made._plan.scale)
    random, found = np.random.default_rng(SEED), 0.0
    for _ in range(200):
        one, other = records(random, None)
        answers = made.answers(read(made, one, other))
        change = float(np.linalg.norm(answers[0] - answers[1], ord=order)) + (order == 2)
        distance_m = emd_m(one, other)
        assert change / scale <= made.guarantee.loss(distance_m)
        found = max(found, change / scale / float(term.alpha_per_m) / (distance_m + float(term.offset_m)))
    assert found > 0.6  # six tenths of the claim would be refuted


def test_answers_are_means_of_soft_zones():
    made = mechanism(APART)
    lat, lon = (30.22, 30.2 - 400 / 110_900, 30.1), (-97.78,) * 3
    answers = made.answers(read(made, (np.array(lat), np.array(lon))))[0] / PARTS
    assert answers == pytest.approx([(1 + 0.5 + 0) / 3, 0], abs=2e-3)
    everybody = read(made, *[(np.array([30.22]), np.array([-97.78]))] * 2)
    assert made.sums(everybody).sums == (2 * PARTS, 0)
    nobody = item_records(persons=[], cells=[], counts=[], level=made.level)
    assert AnswerSums.joined([made.sums(everybody), made.sums(nobody)]).sums == (2 * PARTS, 0)
    with pytest.raises(ParameterError, match="records"):
        made.sums(item_records(persons=[], cells=[], counts=[], level=3))


@pytest.mark.parametrize("zones", [NEAR, APART], ids=["k-norm", "laplace"])
def test_it_spends_its_target_at_the_radius_and_no_more_than_its_cap(zones):
    guarantee = mechanism(zones).guarantee
    assert 0.9999 < guarantee.loss(400) <= 1
    assert guarantee.loss(200) == pytest.approx(0.5, rel=0.01)
    # Between any two records: √3 by √2 a margin, or 2 by 1; a margin is two radii.
    assert guarantee.loss(INFINITY) == pytest.approx(math.sqrt(6) if zones is NEAR else 4, rel=0.02)
    assert guarantee.delta == 0


@pytest.mark.parametrize("zones", [NEAR, APART], ids=["k-norm", "laplace"])
def test_its_noise_has_the_promised_width(zones):
    made = mechanism(zones)
    drawn = made.noise(SeededSource(SEED), size=20_000) / PARTS / made.persons
    width = float(np.sqrt((drawn**2).mean()))
    assert width == pytest.approx(made.expected_error().share, rel=0.03)
    assert (np.abs(drawn) <= WITHIN_ERRORS * made.expected_error().share).mean() > 0.945


def test_shares_are_of_all_enrolled_and_stay_shares():
    made = mechanism(APART, epsilon=10**6, persons=4)
    shares = made.release(AnswerSums(sums=(2 * PARTS, -PARTS)), SeededSource(SEED))
    assert shares.shares == pytest.approx((0.5, 0), abs=1e-3)
    assert ZoneShares.from_bytes(shares.to_bytes()) == shares
    for damaged in (b"", shares.to_bytes()[:-4], b"HZZ1" + b"x" * 9):
        with pytest.raises(ValueError, match="damaged"):
            ZoneShares.from_bytes(damaged)


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "FeatureCollection", "features": []},
        polygon("a line", [[-97.8, 30.2], [-97.7, 30.2], [-97.8, 30.2]]),
        polygon("nowhere", [[0, 0], [1, 0], [1, 1]]),
        polygon("x" * 61, [[-97.8, 30.2], [-97.7, 30.2], [-97.7, 30.3]]),
        polygon("text", [["-97.8", 30.2], [-97.7, 30.2], [-97.7, 30.3]]),
        polygon("far", [[1e300, 30.2], [-97.7, 30.2], [-97.7, 30.3]]),
        json.dumps(polygon("nan", [[float("nan"), 30.2], [-97.7, 30.2], [-97.7, 30.3]])),
        collection(BOXES * 5),
        5,
    ],
)
def test_what_are_no_zones_is_refused(wrong):
    with pytest.raises(ParameterError, match="zones"):
        mechanism(wrong)


def test_zones_have_one_spelling():
    spelled = Zones.parse(NEAR)
    assert Zones.parse(json.dumps(NEAR)) == spelled == Zones.parse(spelled.text)
    assert [zone.name for zone in spelled] == ["box 0", "box 1", "box 2"]
    assert spelled.zones[0].degrees[0] == spelled.zones[0].degrees[-1] == (-97.8, 30.2)


# --- audits: one of three persons moves out of a zone, by several distances ---


@dataclass(frozen=True, slots=True, kw_only=True)
class TwiceByPersons(EmdZones):
    """Planted: the noise of the sum divided by n, as if it were the mean's; that is divided by n anyway."""

    def noise(self, rng, *, size):
        return EmdZones.noise(self, rng, size=size) // self.persons


def loss_seen(made, distance_m, draws=4000):
    """Lower bound, from draws at the edge of a zone and of a person who moved away from it."""
    steep = 30.2 - distance_m / 110_900
    here, there = ((np.array([lat]), np.array([-97.75])) for lat in (30.2, steep))
    runs = []
    for seed, last in ((SEED, here), (SEED + 1, there)):
        sums = np.array(made.sums(read(made, here, here, last)).sums)
        runs.append((sums + made.noise(SeededSource(seed), size=draws)).astype(np.float64))
    return audited(*runs, confidence=0.999).epsilon


@pytest.mark.parametrize("zones", [NEAR, APART], ids=["k-norm", "laplace"])
@pytest.mark.parametrize("distance_m", [200, 400, 2000])
def test_an_audit_does_not_refute_it(zones, distance_m):
    made = mechanism(zones, epsilon=2)
    seen, claimed = loss_seen(made, distance_m), float(made.guarantee.loss(distance_m))
    assert seen <= claimed
    if distance_m > 200:
        assert seen > 0.4 * min(claimed, 3)


def test_an_audit_sees_a_forgotten_factor():
    faulty = mechanism(APART, TwiceByPersons, epsilon=2)
    assert loss_seen(faulty, 400) > 1.5 * faulty.guarantee.loss(400)
