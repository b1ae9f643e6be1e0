"""Measures the accuracy of `adaptive` beside its baselines, and tells how the baselines were tuned.

    python -m mechanisms.reproduction.adaptive_accuracy tune    FILE… --trials 24
    python -m mechanisms.reproduction.adaptive_accuracy compare FILE… --trials 120
    python -m mechanisms.reproduction.adaptive_accuracy fit     FILE… --trials 60
    python -m mechanisms.reproduction.adaptive_accuracy guess   FILE… --trials 24
    python -m mechanisms.reproduction.adaptive_accuracy guide   FILE… --trials 240

`tune` and `fit` look at places of the even half only, `compare`, `guess` (a wrong number of expected persons)
and `guide` (maps that begin from other maps) at those of the odd half; with `--half even`, these look at the
even half, too. Nothing that is printed is private.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from mechanisms.central.adaptive.guided_walk import GuidedWalk
from mechanisms.central.adaptive.mechanism import Adaptive, takes_guide
from mechanisms.central.adaptive.one_walk import OneWalk
from mechanisms.central.adaptive.rounds import NoisyRounds
from mechanisms.central.adaptive.two_rounds import TwoRounds
from mechanisms.error_bounds import guided_forecast
from mechanisms.evaluation import protocol
from mechanisms.evaluation.places import CheckInPlace, Split
from mechanisms.expected_error import ErrorForecast
from mechanisms.guarantee import Relation
from mechanisms.mechanism import HeatmapMechanism, Target
from mechanisms.reproduction.check_ins import dealt_places, read_check_ins
from mechanisms.reproduction.forecast_fit import coverage, fit
from mechanisms.reproduction.guided import (
    Elsewhere,
    MakeGuide,
    OtherService,
    Places,
    SamePeople,
    release_of_others,
    two_of_others,
)
from mechanisms.reproduction.measurement_file import MeasurementFile
from mechanisms.reproduction.paired import (
    MEASURES,
    PERSONS,
    RESOLUTION,
    Contestant,
    Results,
    Setting,
    emd_ratio,
    measure,
)
from mechanisms.reproduction.plain_grid import PlainGrid

ADAPTIVE: Final = "adaptive"
# Persons a place must have beyond those of a trial, for releases of others.
SPARE: Final = {50: 50, 200: 200, 1000: 50}
FEWEST_OF_SERVICE: Final = 50  # people of another service in a place, for its map to be a guide there
GUESSES: Final = tuple(map(Fraction, ("1/10", "1/2", "2", "10")))  # as parts of the persons there are


def listed(name: str, **parameters: str) -> Contestant:
    """Returns a mechanism of the catalogue."""

    def built(epsilon: Fraction, persons: int) -> HeatmapMechanism:
        return protocol.listed(name, epsilon, persons, resolution=RESOLUTION, parameters=parameters)

    return Contestant(label=_label(name, parameters), build=built)


def plain_grid(most: str) -> Contestant:
    """Returns the baseline that is in no catalogue."""

    def built(epsilon: Fraction, persons: int) -> PlainGrid:
        target = Target(relation=Relation.ADD_REMOVE, epsilon=epsilon, expected_persons=persons)
        return PlainGrid.calibrate(target, resolution=RESOLUTION, most=float(most))

    return Contestant(label=_label("plain-grid", {"most": most}), build=built)


def fit_contestants() -> list[Contestant]:
    """Returns `adaptive` without a guide, and with another release of the place."""
    plain = listed(ADAPTIVE)
    return [plain, Contestant(label="adaptive, guided", build=plain.build, guide=release_of_others)]


def tuning_contestants() -> list[Contestant]:
    """Returns the baselines with all parameters that were tried."""
    trees = [listed("privtree", tree_percent=percent) for percent in ("15", "30", "50")]
    grids = [plain_grid(most) for most in ("2", "4", "6")]
    sparse = [
        listed("sparse-emd", width=width, decay=decay)
        for width in ("10", "20", "40")
        for decay in ("0.55", "0.7071", "0.85")
    ]
    tops = [listed("laplace-top", keep_percent=percent) for percent in ("0.01", "0.1", "1")]
    return [*trees, *grids, listed("dense-emd"), *sparse, *tops]


def comparison_contestants() -> list[Contestant]:
    """Returns `adaptive`, the paper's algorithm, and each baseline as tuned on the even half."""
    return [
        listed(ADAPTIVE),
        listed("privtree"),
        plain_grid("4"),
        listed("dense-emd"),
        listed("sparse-emd"),
        listed("sparse-emd", width="40", decay="0.55"),
        listed("laplace-top", keep_percent="0.1"),
    ]


def guess_contestants() -> list[Contestant]:
    """Returns `adaptive` with the right number of expected persons, and with wrong ones."""
    return [listed(ADAPTIVE), *(_guessing(part) for part in GUESSES)]


def guide_contestants(places: Places, service: OtherService | None) -> list[Contestant]:
    """Returns two rounds, one walk, and walks that begin from all kinds of guides."""
    kinds: dict[str, MakeGuide] = {
        "other people's release": release_of_others,
        "two such releases averaged": two_of_others,
        "another city's": Elsewhere(places=places),
        "own release as a guide": SamePeople(is_counted=False),
        "own release counted in": SamePeople(is_counted=True),
        "own guided release counted in": SamePeople(is_counted=True, is_guided=True),
    }
    if service is not None:
        kinds = {"another service's": service}
    plain = listed(ADAPTIVE)
    with_guides = [Contestant(label=label, build=plain.build, guide=kind) for label, kind in kinds.items()]
    return [two_rounds(), plain, *with_guides, listed("sparse-emd")]


def two_rounds() -> Contestant:
    """Returns `adaptive` as it was in its first version."""

    def built(epsilon: Fraction, persons: int) -> HeatmapMechanism:
        target = Target(relation=Relation.ADD_REMOVE, epsilon=epsilon, expected_persons=persons, version=1)
        return Adaptive.calibrate(target, resolution=RESOLUTION)

    return Contestant(label="two rounds", build=built)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the module's command; what is measured goes to standard output."""
    parser = ArgumentParser(prog="adaptive_accuracy", description="Measured on real check-ins.")
    parser.add_argument("what", choices=["tune", "compare", "fit", "guess", "guide"])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="gzip CSV: user, lat, lon")
    parser.add_argument("--trials", type=int, default=24, help="a setting, dealt to the places in turn")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="after which no trial begins")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a file of measurements to go on from, one for each WHAT")
    parser.add_argument("--half", choices=["even", "odd"], help="of the places")
    parser.add_argument("--service", type=Path, metavar="FILE", help="check-ins of another service, as guide")
    options = parser.parse_args(arguments)
    split = Split.EVEN if options.what in {"tune", "fit"} or options.half == "even" else Split.ODD
    is_guide = options.what == "guide"
    service = None if options.service is None else OtherService(check_ins=read_check_ins(options.service))
    spare = SPARE if options.what in {"guide", "fit"} and service is None else {}
    places = dealt_places(options.files, persons=PERSONS, split=split, spare=spare)
    if service is not None:
        places = {number: _served(own, service) for number, own in places.items()}
    makers = {
        "tune": tuning_contestants,
        "compare": comparison_contestants,
        "fit": fit_contestants,
        "guess": guess_contestants,
    }
    contestants = guide_contestants(places, service) if is_guide else makers[options.what]()
    until = time.monotonic() + 60 * options.minutes
    results = measure(
        places,
        contestants,
        trials=options.trials,
        seed=options.seed,
        until=until,
        store=MeasurementFile(options.keep),
        has=_takes_guide if is_guide else None,
    )
    tables = {
        "tune": [_table],
        "compare": [_table, _forecasts],
        "fit": [_fitted],
        "guess": [_guesses],
        "guide": [_guided],
    }
    for table in tables[options.what]:
        sys.stdout.writelines(f"{line}\n" for line in table(results))


def _served(places: Sequence[CheckInPlace], service: OtherService) -> tuple[CheckInPlace, ...]:
    return tuple(place for place in places if service.people(place.number) >= FEWEST_OF_SERVICE)


def _table(results: Results) -> Iterator[str]:
    labels = results.labels()
    yield _trials(results)
    bounds = ("upper 95 % bound, these places", "any such places")
    columns = ("", "EMD", f"EMD of {labels[0]} as part of it", *bounds, *MEASURES[1:])
    yield f"| {' | '.join(columns)} |"
    for label in sorted(labels, key=lambda label: results.means(label)["emd"]):
        means, ratios = results.means(label), emd_ratio(results, labels[0], label)
        part = " | ".join(f"{ratio:.3f}" for ratio in ratios)
        measures = " | ".join(f"{means[name]:.3f}" for name in MEASURES[1:])
        yield f"| {label} | {means['emd']:.4f} | {part} | {measures} |"


def _guesses(results: Results) -> Iterator[str]:
    right, *wrong = results.labels()
    yield f"{_trials(results)}; EMD as part of that with the right guess, upper 95 % bound for these places"
    for label in wrong:
        ratio, bound, _ = emd_ratio(results, label, right)
        yield f"| {label} | {ratio:.3f} | {bound:.3f} |"


def _guided(results: Results) -> Iterator[str]:
    """Yields EMD as part of that of two rounds and of sparse-emd,
    over all settings and by number of persons.
    """
    first, *labels = results.labels()
    yield f"{_trials(results)}; EMD as part of that of {first}, upper 95 % bounds for these places and any"
    for label in labels:
        ratios = [f"{ratio:.3f}" for ratio in emd_ratio(results, label, first)]
        rows = [
            f"{persons} × {float(epsilon):g}: {ratio:.2f}"
            for (persons, epsilon), values in results.values.items()
            for ratio in [np.mean(values[label], axis=0)[0] / np.mean(values[first], axis=0)[0]]
        ]
        yield f"| {label} | {' | '.join(ratios)} | {', '.join(rows)} |"


def _forecasts(results: Results) -> Iterator[str]:
    """Yields the fit of the forecast from public facts, setting by setting."""
    yield "| persons | epsilon | EMD within the forecast | forecast median / median EMD |"
    for (persons, epsilon), errors in _errors(results).items():
        within = coverage({(persons, epsilon): errors}, _forecast)
        median = _forecast(persons, epsilon).emd_median / np.median(errors)
        yield f"| {persons} | {float(epsilon):g} | {within:.3f} | {median:.2f} |"


def _errors(results: Results, label: str = ADAPTIVE) -> dict[Setting, list[float]]:
    return {setting: [row[0] for row in values[label]] for setting, values in results.values.items()}


def _fitted(results: Results) -> Iterator[str]:
    for label in results.labels():
        errors = _errors(results, label)
        for name, kind in (("one walk", OneWalk), ("guided walk", GuidedWalk), ("two rounds", TwoRounds)):
            own = {setting: values for setting, values in errors.items() if _kind(label, *setting) is kind}
            if not own:
                continue
            curve = fit(own)
            yield f"{label}, {name}: median = {curve.factor:.3f} (n epsilon)^{curve.exponent:.3f}"
            yield f"4 % and 96 % points of errors over it: {curve.low:.2f} and {curve.high:.2f}"
            within = coverage(own, partial(_forecast, is_guided=kind is GuidedWalk))
            yield f"share of errors within the forecast that is in use: {within:.3f}"


def _forecast(persons: int, epsilon: Fraction, *, is_guided: bool = False) -> ErrorForecast:
    """Returns the forecast as a quote tells it."""
    if is_guided:
        return guided_forecast(float(1 / epsilon), persons=persons)
    return _adaptive(epsilon, persons).expected_error(persons=persons)


def _kind(label: str, persons: int, epsilon: Fraction) -> type[NoisyRounds]:
    if label != ADAPTIVE and _takes_guide(persons, epsilon):
        return GuidedWalk
    return type(_adaptive(epsilon, persons).rounds)


def _adaptive(epsilon: Fraction, persons: int) -> Adaptive:
    target = Target(relation=Relation.ADD_REMOVE, epsilon=epsilon, expected_persons=persons)
    return Adaptive.calibrate(target, resolution=RESOLUTION)


def _takes_guide(persons: int, epsilon: Fraction) -> bool:
    return takes_guide(Relation.ADD_REMOVE, epsilon, persons)


def _trials(results: Results) -> str:
    trials = len(next(iter(results.places.values())))
    return f"{trials} trials of each of {len(results.places)} settings"


def _guessing(part: Fraction) -> Contestant:
    def built(epsilon: Fraction, persons: int) -> HeatmapMechanism:
        return listed(ADAPTIVE).build(epsilon, max(1, int(persons * part)))

    return Contestant(label=f"{float(part):g} × the persons expected", build=built)


def _label(name: str, parameters: dict[str, str]) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in parameters.items())])


if __name__ == "__main__":
    main()
