"""Builds the pairs of neighbouring inputs that `manage.py audit` draws from."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, TypeAlias, TypeVar

from django.conf import settings

from heatmaps.management.parsing import named_values, whole
from mechanisms.audit import itemwise, linear, lower_bound
from mechanisms.catalogue import local, registry
from mechanisms.catalogue.entries import Reads
from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.central.exponential.mechanism import Exponential
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.local.lattice import Lattice
from mechanisms.local.reports import LocalMechanism
from mechanisms.mechanism import HeatmapMechanism, Mechanism, Target
from mechanisms.metric.linear.centroid import EmdLinear
from mechanisms.records.mass_map import MassMap
from mechanisms.shuffle.shuffled_centroid import ShuffledCentroid
from mechanisms.space.grid import Region

# Grid sides: below, neighbours would share cells; above, all runs would not fit in memory.
LOWEST_RESOLUTION, HIGHEST_RESOLUTION = 4, 16
RADIUS_M: Final = 400
# Made up, for points and answers: along a street most of a move is seen, and few persons move their mean far.
STREET: Final = Region(10.0, 50.0, 10.05, 50.0005)
PERSONS: Final = 3
SQUARE: Final = Region(10.0, 50.0, 10.03, 50.02)  # about 2 km, for check-ins that are sampled
ALONE: Final = 1  # of whom they are: others would hide what few draws can show
PARTICIPANTS: Final = 20  # of shuffling, which needs a crowd
SIDE, CELL_M = 5, 100  # of a made-up square of cells, for reports
# Defaults that fit a map of millions of squares show next to nothing on a small grid: the bound would be 0.
TELLING: Final[Mapping[str, Mapping[str, str]]] = {
    "laplace-top": {"keep_percent": "50"},
    "frequency": {"expected_persons": "6"},
    "emd-itemwise": {"samples": "2"},
    # Everybody stands in it; whoever moves east leaves it.
    "emd-zones": {"zones": '[["zone",[[99990000,499000000],[100001000,499000000],[100001000,501000000]]]]'},
    # Whoever moves east comes nearer to it.
    "emd-distances": {"places": '[["place",[100500000,500002500]]]'},
    # Few squares: draws take as long as there are of them.
    **{name: {"cell_m": "100"} for name in ("sgdl-shuffle", "geo-shuffle", "rr-shuffle")},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCase(Generic[lower_bound.Input]):
    """Holds two neighbouring inputs of a mechanism at an ε, and what somebody sees of a draw from either.

    distance_m: how far one person's record was moved; None: any two neighbours.
    guided: the mechanism begins from a guide.
    """

    mechanism: Mechanism | LocalMechanism
    epsilon: str
    distance_m: int | None
    guided: bool = False
    draw: lower_bound.Draw[lower_bound.Input]
    inputs: tuple[lower_bound.Input, lower_bound.Input]


Options: TypeAlias = dict[str, Any]  # of the command


def cases(options: Options) -> list[AuditCase[Any]]:
    """Yields everything that is to be drawn. Errors: `ParameterError`."""
    if options["name"] in {entry.name for entry in local.entries()}:
        return list(_of_reports(options))
    entry = registry.get(options["name"])
    return list(_CASES[entry.reads](options))


def _of_maps(options: Options) -> Iterable[AuditCase[Any]]:
    """Yields each relation at each epsilon, with a guide too where the mechanism takes one."""
    entry, side, parameters = registry.get(options["name"]), _side(options), _parameters(options)
    for relation in Relation:
        for text in options["epsilon"] if relation in entry.relations else ():
            target = Target(relation=relation, epsilon=_epsilon(text))
            mechanism = registry.build(entry.name, target=target, resolution=side, parameters=parameters)
            yield _of_map(mechanism, text)
            if isinstance(mechanism, Adaptive):
                yield _of_map(lower_bound.guided(mechanism), text, guided=True)


def _of_map(mechanism: HeatmapMechanism, epsilon: str, *, guided: bool = False) -> AuditCase[MassMap]:
    return AuditCase(
        mechanism=mechanism,
        epsilon=epsilon,
        distance_m=None,
        guided=guided,
        draw=lower_bound.private_part(mechanism),
        inputs=lower_bound.neighbours(mechanism),
    )


_Point: TypeAlias = EmdLinear | Exponential | ShuffledCentroid


def _of_points(options: Options) -> Iterable[AuditCase[Any]]:
    """Yields each distance at each epsilon, on a street with few persons; shuffled none beyond the radius."""
    _no_resolution(options, "a central point has no cells")
    parameters = _parameters(options)
    for text in options["epsilon"]:
        mechanism = _point(options["name"], text, parameters)
        least_m = RADIUS_M // 2 if isinstance(mechanism, ShuffledCentroid) else RADIUS_M
        every = (RADIUS_M // 2, RADIUS_M, 3 * RADIUS_M, math.floor(STREET.diameter_m))
        bounded = [far for far in every if far >= least_m and mechanism.guarantee.loss(far) < INFINITY]
        if isinstance(mechanism, Exponential):
            yield from _moves(mechanism, text, bounded, lower_bound.drawn_place(mechanism), lower_bound.moved)
        elif isinstance(mechanism, EmdLinear):
            yield from _moves(mechanism, text, bounded, lower_bound.drawn_sums(mechanism), linear.moved)
        else:
            yield from _moves(
                mechanism, text, bounded, lower_bound.drawn_sums(mechanism), lower_bound.one_moved
            )


def _point(name: str, epsilon: str, parameters: Mapping[str, str]) -> _Point:
    entry = registry.get(name)
    target = _target(epsilon, delta=registry.LARGEST_DELTA if entry.usual_delta else Fraction(0))
    persons = PARTICIPANTS if entry.usual_delta else PERSONS
    built = registry.build_centroid(
        name, target=target, region=STREET, persons=persons, parameters=parameters
    )
    if not isinstance(built, _Point):
        raise ParameterError("NAME", name, f"{Exponential.name} or another central point")
    return built


def _of_answers(options: Options) -> Iterable[AuditCase[Any]]:
    """Yields each distance at each epsilon, on the street with a few persons at its western end."""
    _no_resolution(options, "what is released has no cells")
    name, parameters = options["name"], _parameters(options)
    for text in options["epsilon"]:
        mechanism = registry.build_answers(
            name, target=_target(text), region=STREET, persons=PERSONS, parameters=parameters
        )
        distances_m = (RADIUS_M // 2, RADIUS_M, 3 * RADIUS_M)
        yield from _moves(mechanism, text, distances_m, lower_bound.drawn_sums(mechanism), linear.moved_out)


def _of_items(options: Options) -> Iterable[AuditCase[Any]]:
    """Yields each distance at each epsilon, on the cells of a square where nobody else is."""
    name, side, parameters = options["name"], _side(options), _parameters(options)
    for text in options["epsilon"]:
        target = _target(text, delta=registry.LARGEST_DELTA)
        mechanism = registry.build_items(
            name, target=target, region=SQUARE, persons=ALONE, resolution=side, parameters=parameters
        )
        distances_m = (2 * RADIUS_M, 3 * RADIUS_M, math.ceil(SQUARE.diameter_m))
        yield from _moves(mechanism, text, distances_m, itemwise.drawn_reports(mechanism), itemwise.moved)


def _of_reports(options: Options) -> Iterable[AuditCase[Any]]:
    """Yields each distance at each epsilon, on a small square of cells."""
    for name in ("resolution", "parameter"):
        if options[name]:
            allowed = "nothing: reports are audited on a small square of cells"
            raise ParameterError(name, options[name], allowed)
    cell_m = Fraction(CELL_M)
    lattice = Lattice(columns=SIDE, rows=SIDE, column_m=cell_m, row_m=cell_m)
    for text in options["epsilon"]:
        target = Target(relation=Relation.REPLACE, epsilon=_epsilon(text), radius_m=cell_m)
        mechanism = local.get(options["name"]).mechanism.calibrate(target, lattice=lattice)
        for cell in ((1, 0), (2, 0), (SIDE - 1, SIDE - 1)):
            yield AuditCase(
                mechanism=mechanism,
                epsilon=text,
                distance_m=math.ceil(math.hypot(*cell) * CELL_M),
                draw=lower_bound.drawn_report(mechanism),
                inputs=((0, 0), cell),
            )


AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)


def _moves(
    mechanism: AnyMechanism,
    epsilon: str,
    distances_m: Sequence[int],
    draw: lower_bound.Draw[lower_bound.Input],
    moved: Callable[[AnyMechanism, Fraction], tuple[lower_bound.Input, lower_bound.Input]],
) -> Iterator[AuditCase[lower_bound.Input]]:
    for distance_m in distances_m:
        inputs = moved(mechanism, Fraction(distance_m))
        yield AuditCase(mechanism=mechanism, epsilon=epsilon, distance_m=distance_m, draw=draw, inputs=inputs)


_CASES: Final[Mapping[Reads, Callable[[Options], Iterable[AuditCase[Any]]]]] = {
    "masses": _of_maps,
    "means": _of_points,
    "items": _of_items,
    "sums": _of_answers,
}


def _target(epsilon: str, *, delta: Fraction = Fraction(0)) -> Target:
    # Where δ is spent, it is as large as is allowed: with smaller ones nothing shows.
    return Target(
        relation=Relation.REPLACE, epsilon=_epsilon(epsilon), delta=delta, radius_m=Fraction(RADIUS_M)
    )


def _epsilon(text: str) -> Fraction:
    return exact_decimal("epsilon", text, low=0, low_open=True, high=settings.MAX_EPSILON)


def _side(options: Options) -> int:
    return whole("resolution", options["resolution"] or "8", low=LOWEST_RESOLUTION, high=HIGHEST_RESOLUTION)


def _no_resolution(options: Options, reason: str) -> None:
    if options["resolution"] is not None:
        raise ParameterError("resolution", options["resolution"], f"none: {reason}")


def _parameters(options: Options) -> dict[str, str]:
    return {**TELLING.get(options["name"], {}), **named_values(options["parameter"])}
