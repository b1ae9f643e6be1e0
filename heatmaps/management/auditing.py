"""What `manage.py audit` draws from: for each mechanism pairs of made-up neighbours, checked beforehand."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, TypeAlias

from django.conf import settings

from heatmaps.management.parsing import named_values, whole
from mechanisms import audit, catalogue
from mechanisms.catalogue import Kind
from mechanisms.central.exponential import Exponential
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.grid import Region
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.interface import Mechanism, Target
from mechanisms.local import choices
from mechanisms.local.lattice import Lattice
from mechanisms.local.reports import LocalMechanism
from mechanisms.metric import itemwise_audit, linear_audit
from mechanisms.metric.linear_centroid import EmdLinear
from mechanisms.shuffle.shuffled_centroid import ShuffledCentroid

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
class Case(Generic[audit.Input]):
    """Two neighbouring inputs of a mechanism at an ε, and what somebody sees of a draw from either.

    distance_m: how far one person's record was moved; None: any two neighbours.
    """

    mechanism: Mechanism | LocalMechanism
    epsilon: str
    distance_m: int | None
    draw: audit.Draw[audit.Input]
    inputs: tuple[audit.Input, audit.Input]


Options: TypeAlias = dict[str, Any]  # of the command


def cases(options: Options) -> list[Case[Any]]:
    """Everything that is to be drawn. Errors: `ParameterError`."""
    if options["name"] in {entry.name for entry in choices.entries()}:
        return list(_of_reports(options))
    entry = catalogue.get(options["name"])
    found = _of_items if isinstance(entry, catalogue.ItemsEntry) else _CASES[entry.kind]
    return list(found(options))


def _of_maps(options: Options) -> Iterable[Case[Any]]:
    """Each relation at each epsilon."""
    entry, side, parameters = catalogue.get(options["name"]), _side(options), _parameters(options)
    for relation in Relation:
        for text in options["epsilon"] if relation in entry.relations else ():
            target = Target(relation=relation, epsilon=_epsilon(text))
            made = catalogue.build(entry.name, target=target, resolution=side, parameters=parameters)
            yield Case(
                mechanism=made,
                epsilon=text,
                distance_m=None,
                draw=audit.private_part(made),
                inputs=audit.neighbours(made),
            )


_Point: TypeAlias = EmdLinear | Exponential | ShuffledCentroid


def _of_points(options: Options) -> Iterable[Case[Any]]:
    """Each distance at each epsilon, on a street with a few persons; by shuffling, none beyond the radius."""
    _no_resolution(options, "a central point has no cells")
    parameters = _parameters(options)
    for text in options["epsilon"]:
        made = _point(options["name"], text, parameters)
        least_m = RADIUS_M // 2 if isinstance(made, ShuffledCentroid) else RADIUS_M
        for distance_m in (RADIUS_M // 2, RADIUS_M, 3 * RADIUS_M, math.floor(STREET.diameter_m)):
            if distance_m >= least_m and made.guarantee.loss(distance_m) < INFINITY:
                yield _point_case(made, text, distance_m)


def _point(name: str, epsilon: str, parameters: Mapping[str, str]) -> _Point:
    entry = catalogue.get(name)
    target = _target(epsilon, delta=catalogue.LARGEST_DELTA if entry.usual_delta else Fraction(0))
    persons = PARTICIPANTS if entry.usual_delta else PERSONS
    built = catalogue.build_centroid(
        name, target=target, region=STREET, persons=persons, parameters=parameters
    )
    if not isinstance(built, _Point):
        raise ParameterError("NAME", name, f"{Exponential.name} or another central point")
    return built


def _point_case(made: _Point, epsilon: str, distance_m: int) -> Case[Any]:
    far = Fraction(distance_m)
    if isinstance(made, Exponential):
        draw, inputs = audit.drawn_place(made), audit.moved(made, far)
    elif isinstance(made, EmdLinear):
        draw, inputs = audit.drawn_sums(made), linear_audit.moved(made, far)
    else:
        draw, inputs = audit.drawn_sums(made), audit.one_moved(made, far)
    return Case(mechanism=made, epsilon=epsilon, distance_m=distance_m, draw=draw, inputs=inputs)


def _of_answers(options: Options) -> Iterable[Case[Any]]:
    """Each distance at each epsilon, on the street with a few persons at its western end."""
    _no_resolution(options, "what is released has no cells")
    name, parameters = options["name"], _parameters(options)
    for text in options["epsilon"]:
        made = catalogue.build_answers(
            name, target=_target(text), region=STREET, persons=PERSONS, parameters=parameters
        )
        for distance_m in (RADIUS_M // 2, RADIUS_M, 3 * RADIUS_M):
            yield Case(
                mechanism=made,
                epsilon=text,
                distance_m=distance_m,
                draw=audit.drawn_sums(made),
                inputs=linear_audit.moved_out(made, Fraction(distance_m)),
            )


def _of_items(options: Options) -> Iterable[Case[Any]]:
    """Each distance at each epsilon, on the cells of a square where nobody else is."""
    name, side, parameters = options["name"], _side(options), _parameters(options)
    for text in options["epsilon"]:
        target = _target(text, delta=catalogue.LARGEST_DELTA)
        made = catalogue.build_items(
            name, target=target, region=SQUARE, persons=ALONE, resolution=side, parameters=parameters
        )
        for distance_m in (2 * RADIUS_M, 3 * RADIUS_M, math.ceil(SQUARE.diameter_m)):
            yield Case(
                mechanism=made,
                epsilon=text,
                distance_m=distance_m,
                draw=itemwise_audit.drawn_reports(made),
                inputs=itemwise_audit.moved(made, Fraction(distance_m)),
            )


def _of_reports(options: Options) -> Iterable[Case[Any]]:
    """Each distance at each epsilon, on a small square of cells."""
    for name in ("resolution", "parameter"):
        if options[name]:
            allowed = "nothing: reports are audited on a small square of cells"
            raise ParameterError(name, options[name], allowed)
    cell_m = Fraction(CELL_M)
    lattice = Lattice(columns=SIDE, rows=SIDE, column_m=cell_m, row_m=cell_m)
    for text in options["epsilon"]:
        target = Target(relation=Relation.REPLACE, epsilon=_epsilon(text), radius_m=cell_m)
        made = choices.get(options["name"]).mechanism.calibrate(target, lattice=lattice)
        for cell in ((1, 0), (2, 0), (SIDE - 1, SIDE - 1)):
            yield Case(
                mechanism=made,
                epsilon=text,
                distance_m=math.ceil(math.hypot(*cell) * CELL_M),
                draw=audit.drawn_report(made),
                inputs=((0, 0), cell),
            )


_CASES: Final[Mapping[Kind, Callable[[Options], Iterable[Case[Any]]]]] = {
    "heatmap": _of_maps,
    "centroid": _of_points,
    "zones": _of_answers,
    "distances": _of_answers,
}


def _target(epsilon: str, *, delta: Fraction = Fraction(0)) -> Target:
    """Of moves. Where δ is spent, it is as large as is allowed: with smaller ones nothing shows."""
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
