"""Runs several mechanisms on the same persons, trial by trial; bounds ratios of their errors from above."""

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Final

import numpy as np

from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.evaluation.places import CheckInPlace
from mechanisms.evaluation.protocol import Protocol, Trial
from mechanisms.mechanism import HeatmapMechanism
from mechanisms.reproduction.guided import MakeGuide, guided
from mechanisms.reproduction.measurement_file import MeasurementFile

PERSONS: Final = (50, 200, 1000)
EPSILONS: Final = tuple(map(Fraction, ("0.5", "1", "2", "5")))
MEASURES: Final = ("emd", "kl_mixed", "similarity", "pearson")
RESOLUTION: Final = 256
_BOOTSTRAPS: Final = 2000
_LEVEL: Final = 0.95  # of the one-sided bound

Setting = tuple[int, Fraction]  # persons, epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Makes a mechanism with its parameters, for any epsilon and expected persons."""

    label: str
    build: Callable[[Fraction, int], HeatmapMechanism]
    guide: MakeGuide | None = None  # of `adaptive` alone


@dataclass(slots=True, kw_only=True)
class Results:
    """Measurements: per setting, the place of each trial and (trials, 4) `MEASURES` of each label."""

    places: dict[Setting, list[int]] = field(default_factory=dict)
    values: dict[Setting, dict[str, list[list[float]]]] = field(default_factory=dict)

    def add(self, setting: Setting, trial: Trial, measured: Mapping[str, list[float]]) -> None:
        self.places.setdefault(setting, []).append(trial.place.number)
        for label, row in measured.items():
            self.values.setdefault(setting, {}).setdefault(label, []).append(row)

    def labels(self) -> list[str]:
        return list(next(iter(self.values.values())))

    def means(self, label: str) -> dict[str, float]:
        """Returns the geometric mean over settings of the mean EMD,
        arithmetic means of the other measures.
        """
        rows = np.array([np.mean(values[label], axis=0) for values in self.values.values()])
        columns = dict(zip(MEASURES, rows.mean(axis=0).tolist(), strict=True))
        return columns | {"emd": float(np.exp(np.log(rows[:, 0]).mean()))}


def measure(
    places: Mapping[int, Sequence[CheckInPlace]],
    contestants: Sequence[Contestant],
    *,
    trials: int,
    seed: int = 0,
    until: float = math.inf,
    store: MeasurementFile | None = None,
    has: Callable[[int, Fraction], bool] | None = None,
) -> Results:
    """Returns trials of all settings, dealt to places in turn;
    none begins after `until`, of the monotonic clock.

    Numbers of persons without a place are left out, and settings that `has` says no to. What `store` has of
    these trials is taken from there, the rest is added to it.
    """
    results, store = Results(), store or MeasurementFile()
    for number in range(trials):
        if number and time.monotonic() > until:
            break
        for persons, where in places.items():
            if not where:
                continue
            repetition, which = divmod(number, len(where))
            protocol = Protocol(persons=persons, trials=trials, resolution=RESOLUTION, seed=seed)
            trial = Trial(place=where[which], repetition=repetition, protocol=protocol)
            for epsilon in EPSILONS:
                if has is not None and not has(persons, epsilon):
                    continue
                measured = {}
                for contestant in contestants:
                    key = (seed, persons, str(epsilon), number, contestant.label)
                    row = store.get(key)
                    if row is None:
                        row = _row(contestant, epsilon, trial)
                        store.add(key, row)
                    measured[contestant.label] = row
                results.add((persons, epsilon), trial, measured)
    return results


def _row(contestant: Contestant, epsilon: Fraction, trial: Trial) -> list[float]:
    mechanism = contestant.build(epsilon, trial.protocol.persons)
    if contestant.guide is not None and isinstance(mechanism, Adaptive):
        mechanism = guided(mechanism, trial, contestant.guide)
    measured = trial.similarities(trial.released(mechanism).dense())
    return [measured[name] for name in MEASURES]


def emd_ratio(results: Results, numerator: str, denominator: str) -> tuple[float, float, float]:
    """Returns (ratio, upper 95 % bounds for these places and for others like them) of mean EMDs.

    The ratio is a geometric mean over settings. Bounds are one-sided, from Bayesian bootstraps (Rubin 1981)
    that keep pairs: over trials, where all epsilons of the same persons have the same weight, and over
    places, where all trials of a place have.
    """
    trials = {
        setting: [(setting[0], number) for number in range(len(places))]
        for setting, places in results.places.items()
    }
    ratio, bound = _bound(results, numerator, denominator, trials)
    return ratio, bound, _bound(results, numerator, denominator, results.places)[1]


def _bound(
    results: Results, numerator: str, denominator: str, groups: Mapping[Setting, Sequence[Hashable]]
) -> tuple[float, float]:
    """Returns (ratio, upper bound). groups: for each setting what the weight of each trial is drawn for."""
    columns = {group: column for column, group in enumerate(dict.fromkeys(chain(*groups.values())))}
    draws = np.random.default_rng(0).exponential(size=(_BOOTSTRAPS, len(columns)))
    weights = np.vstack((np.ones((1, len(columns))), draws))
    logs = np.zeros(weights.shape[0])
    for setting, own in groups.items():
        trial_weights = weights[:, [columns[group] for group in own]]
        sums = [
            trial_weights @ np.array(results.values[setting][label])[:, 0]
            for label in (numerator, denominator)
        ]
        logs += np.log(sums[0] / sums[1]) / len(groups)
    return float(np.exp(logs[0])), float(np.exp(np.quantile(logs[1:], _LEVEL)))
