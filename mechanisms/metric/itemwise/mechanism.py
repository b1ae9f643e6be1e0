"""Releases maps of check-ins sampled, blurred one by one and shuffled: emd-itemwise for stored records."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import level_of
from mechanisms.check import ParameterError, exact_decimal, whole
from mechanisms.expected_error import ErrorForecast
from mechanisms.guarantee import Guarantee, Relation, Trust
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.local.noise_table import row_law
from mechanisms.mechanism import ItemsMechanism, RecordMechanism, Target
from mechanisms.metric.itemwise.calibration import SMALLEST_EPSILON, Fitted, Requirement, fit, guessed_decay
from mechanisms.metric.itemwise.deconvolution import Floats, likeliest
from mechanisms.metric.itemwise.forecast import forecast
from mechanisms.metric.itemwise.reduction import sample_records
from mechanisms.metric.itemwise.reports import ItemWise
from mechanisms.randomness import RandomSource
from mechanisms.records.item_records import ItemRecords
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region, morton_decode, morton_encode

MOST_PERSONS: Final = 10**7
MOST_SAMPLES: Final = 1024
MOST_REPORTS: Final = 10**8
_USUAL_SAMPLES: Final = (16, 64, 256)  # fewer make it the same loss for every change
_NEARLY: Final = 1.15  # times the least error: whole records cost less with fewer
_AT_ONCE: Final = 2**20  # reports
_LEAST_SHARE: Final = 1e-3  # of what a cell would have on an even map; less is left out

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmdItemwise(ItemsMechanism):
    """Draws `samples` check-ins of every person, moves each by noise on the cells, and counts the reports.

    Algorithm 3 of Imola et al. 2024 before Algorithm 2, with geometric noise on both axes (`GeoLocal`: its
    law is two small matrices, so that the map behind the reports can be sought), run by one party for
    everybody: trust is CENTRAL, `simulated`. What is seen of the reports is how many there are in each cell.

    Guarantee: under REPLACE, δ; one term that rises with the earth mover's distance d of whole records up to
    a cap (`ItemWise`, by `reduction.py` and `group.py`), of records as read (`Guarantee`). ε is the loss at
    `radius_m`. A sample may move farther than the record, so that the loss is α · (slope · d + offset), which
    is at most that of the discrete guarantee with radius `radius_m` (`discrete`; Definition 5.1) at every
    distance and equal to it at the radius; with few samples it is the same for every change of a record. Half
    of δ is for unlucky samples, half for the crowd of reports.
    Edge cases: who has no check-ins, or is in no file, stands in the region's middle, as for every result of
    such a dataset, so that distances of records mean the same and losses add up. Total for any records of at
    most `persons` persons.
    Error: `expected_error`, a forecast. The map is the likeliest one behind the reports (`deconvolution.py`);
    how far off a cell is, is not stated.
    References: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via the earth
    mover's distance", 2024, Algorithms 2 and 3, Theorems 4.3, 4.4 and 5.3, by a numeric account.
    """

    name: ClassVar[str] = "emd-itemwise"
    highest_resolution: ClassVar[int] = 256  # the map is sought by a thousand steps over all cells
    smallest_epsilon: ClassVar[Fraction] = SMALLEST_EPSILON
    most_persons: ClassVar[int] = MOST_PERSONS
    delta: Fraction
    resolution: int
    samples: int  # m: check-ins drawn of every person, with replacement

    def __post_init__(self) -> None:
        RecordMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        exact_decimal("delta", self.delta, low=0, low_open=True, high=Fraction(1, 2))
        level_of(self.resolution, highest=self.highest_resolution)
        whole(1, MOST_SAMPLES, samples=self.samples)
        if self.persons * self.samples > MOST_REPORTS:
            raise ParameterError(
                "samples", self.samples, f"at most {MOST_REPORTS // self.persons} of so many persons"
            )
        self.fitted  # noqa: B018 - refuses what cannot be calibrated

    @classmethod
    def calibrate(
        cls,
        target: Target,
        *,
        region: Region,
        persons: int,
        resolution: int,
        samples: int | None = None,
        **parameters: Any,
    ) -> Self:
        """Returns the mechanism; without `samples`,
        the fewest of a few numbers that promise nearly the least error.
        """
        if target.relation is not Relation.REPLACE:
            raise ParameterError("relation", target.relation, Relation.REPLACE)
        radius_m = target.needed_radius_m
        lattice = _lattice(region, resolution)
        exact_decimal("delta", target.delta, low=0, low_open=True, high=Fraction(1, 2))
        if samples is None:
            whole(1, MOST_PERSONS, persons=persons)
            samples = _usual_samples(target, radius_m, lattice, persons)
        return cls.spending(
            target,
            region=region,
            persons=persons,
            delta=target.delta,
            resolution=resolution,
            samples=samples,
            **parameters,
        )

    @property
    def guarantee(self) -> Guarantee:
        return replace(self.reports_of_all().guarantee_at(self.fitted.rate), simulated=True)

    @property
    def guarantee_with_shuffler(self) -> Guarantee:
        """Returns the same on people's devices, where `if_shuffler_fails` says what is left."""
        return self.reports_of_all(trust=Trust.SHUFFLE).guarantee_at(self.fitted.rate)

    @property
    def discrete(self) -> Guarantee:
        """Returns the discrete guarantee of radius `radius_m`, as the paper has it;
        `guarantee` never claims more.
        """
        return replace(self.reports_of_all().discrete_at(self.radius_m, self.fitted.rate), simulated=True)

    @property
    def fitted(self) -> Fitted:
        return fit(self._requirement)

    def reports_of_all(self, *, trust: Trust = Trust.CENTRAL) -> ItemWise:
        """Returns the mechanism that blurs and shuffles the records before the map is sought."""
        return replace(self._requirement.release(self.fitted.decay_per_m), trust=trust)

    def release(self, records: ItemRecords, rng: RandomSource) -> Heatmap:
        return self.map_behind(self.reports(records, rng), persons=self.persons)

    def map_behind(self, reports: Integers, *, persons: int) -> Heatmap:
        """Returns the likeliest map of so many persons behind `(columns, rows)` numbers of reports."""
        shares = likeliest(reports, *self._laws)
        shares[shares * shares.size < _LEAST_SHARE] = 0
        column, row = np.nonzero(shares)
        level = level_of(self.resolution, highest=self.highest_resolution)
        return Heatmap(
            level=level,
            levels=np.full(column.size, level, np.uint8),
            prefixes=morton_encode(column, row, level),
            values=shares[column, row] / shares.sum() * persons,
            standard_errors=np.full(column.size, np.nan),
        )

    def reports(self, records: ItemRecords, rng: RandomSource) -> Integers:
        """Returns `(columns, rows)` numbers of reports: all that the guarantee is about.

        Errors: ValueError for records of more persons or another level, without any value of them.
        """
        missing = self.persons - records.persons
        if missing < 0 or 1 << records.level != self.resolution:
            raise ValueError("there must be at most as many records as persons, on the map's own cells")
        item_wise = self.reports_of_all()
        column, row = morton_decode(records.cells, records.level)
        ends = records.counts.cumsum()
        lengths = np.concatenate([records.lengths, np.zeros(missing, np.int64)])
        starts = lengths.cumsum() - lengths
        counted = np.zeros((self.resolution, self.resolution), np.int64)
        size = max(1, _AT_ONCE // self.samples)
        for first in range(0, self.persons, size):
            some = slice(first, first + size)
            places = sample_records(lengths[some], self.samples, rng)
            there = places >= 0
            rows = np.searchsorted(ends, (starts[some, np.newaxis] + places)[there], side="right")
            cells = []
            for axis in (column, row):
                indices = np.full(places.shape, self.resolution // 2)  # the middle, for empty records
                indices[there] = axis[rows]
                cells.append(indices.ravel())
            counted += item_wise.reported((cells[0], cells[1]), rng)
        return counted

    def expected_error(self) -> ErrorForecast:
        return forecast(self.persons * self.samples, self.noise_cap)

    @property
    def noise_cap(self) -> float:
        """Returns the loss of one report, at most: what the forecast depends on."""
        return self._requirement.noise_cap(float(self.fitted.decay_per_m))

    @property
    def blur(self) -> GeoLocal:
        """Returns the mechanism that moves each report."""
        return GeoLocal(lattice=self._requirement.lattice, decay_per_m=self.fitted.decay_per_m)

    @property
    def _requirement(self) -> Requirement:
        return Requirement(
            lattice=_lattice(self.region, self.resolution),
            persons=self.persons,
            samples=self.samples,
            epsilon=self.epsilon,
            delta=self.delta,
            radius_m=self.radius_m,
        )

    @property
    def _laws(self) -> tuple[Floats, Floats]:
        """Returns `(columns, columns)` and `(rows, rows)` probabilities
        of reports (columns) by cell (rows).
        """
        across, along = self.blur.tables
        return row_law(across), row_law(along)


def _lattice(region: Region, resolution: int) -> Lattice:
    level_of(resolution, highest=EmdItemwise.highest_resolution)
    return Lattice.of_map(region, resolution)


def _usual_samples(target: Target, radius_m: Fraction, lattice: Lattice, persons: int) -> int:
    def median_error(samples: int) -> float:
        requirement = Requirement(
            lattice=lattice,
            persons=persons,
            samples=samples,
            epsilon=target.epsilon,
            delta=target.delta,
            radius_m=radius_m,
        )
        return forecast(persons * samples, requirement.noise_cap(guessed_decay(requirement))).emd_median

    errors = {few: median_error(few) for few in _USUAL_SAMPLES if few * persons <= MOST_REPORTS}
    least = min(errors.values(), default=0.0)
    return next((few for few, error in errors.items() if error <= _NEARLY * least), 1)
