"""`manage.py audit NAME`: a statistical lower bound on what a mechanism costs, beside what it claims."""

import json
import math
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeAlias

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from heatmaps.management.parsing import named_values, whole
from heatmaps.management.progress import Progress
from mechanisms import audit, catalogue
from mechanisms.catalogue import Kind
from mechanisms.central.exponential import Exponential
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.grid import Region
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.interface import HeatmapMechanism, Mechanism, RandomSource, SystemSource, Target
from mechanisms.local import choices
from mechanisms.local.lattice import Lattice
from mechanisms.local.reports import LocalMechanism
from mechanisms.metric import itemwise_audit, linear_audit
from mechanisms.metric.itemwise_map import EmdItemwise
from mechanisms.metric.linear_answers import LinearAnswers
from mechanisms.metric.linear_centroid import EmdLinear
from mechanisms.shuffle.shuffled_centroid import ShuffledCentroid

# Grid sides: below, neighbours would share cells; above, all runs would not fit in memory.
LOWEST_RESOLUTION, HIGHEST_RESOLUTION = 4, 16
MOST_DRAWS: Final = 200_000
# Made up, for central points: along a street most of a move is seen, and few persons move their mean far.
SQUARE: Final = Region(10.0, 50.0, 10.03, 50.02)  # about 2 km, for check-ins that are sampled
STREET: Final = Region(10.0, 50.0, 10.05, 50.0005)
PERSONS, RADIUS_M = 3, 400
ALONE: Final = 1  # of blurred check-ins: others would hide what few draws can show
PARTICIPANTS: Final = 20  # of shuffling, which needs a crowd
SIDE, CELL_M = 5, 100  # of a made-up square of cells, for reports
AUDITED_PERSONS: Final = 20  # public guess that makes an adaptive mechanism measure several cells
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
class Row:
    """`lower_bound` and `claim` are losses at `delta` between two neighbours of `relation`.

    distance_m: how far one person's record was moved; None: any two neighbours.
    """

    mechanism: str
    relation: str
    epsilon: str
    distance_m: float | None
    delta: float
    claim: float
    lower_bound: float
    confidence: float
    draws: int
    exceeded: bool


class Command(BaseCommand):
    help = (
        "Draw from two neighbouring made-up inputs and bound the loss from below, for each relation the "
        "mechanism allows. Exit with 1 when a bound exceeds the claim. It refutes claims and proves none."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("name", metavar="NAME", help=f"a mechanism of the catalogue, or a local one: {choices.names()}")
        add("--epsilon", nargs="+", default=["1"], metavar="E", help="plain decimals (default 1)")
        add("--draws", default="20000", metavar="N", help="on each of the two inputs (default 20000)")
        add("--resolution", help="of a map: cells a side, a power of two from 4 to 16 (default 8)")
        add("--parameter", nargs="+", action="extend", default=[], metavar="NAME=VALUE")
        add("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rows = self._rows(options)
        except ParameterError as error:
            raise CommandError(str(error)) from error
        lines = [json.dumps({"rows": [asdict(row) for row in rows]})] if options["json"] else _table(rows)
        for line in lines:
            self.stdout.write(line)
        exceeded = sum(row.exceeded for row in rows)
        if exceeded:
            raise CommandError(f"{exceeded} of {len(rows)} claims of {rows[0].mechanism} are refuted")

    def _rows(self, options: dict[str, Any]) -> list[Row]:
        draws = whole("draws", options["draws"], low=100, high=MOST_DRAWS)
        audits = _audits(options["name"])(options)
        counted = _Counted(Progress(self.stderr, "draw"), 2 * draws * len(audits))
        return [run(draws, counted) for run in audits]


class _Counted:
    """Passes draws on and tells the progress of all of them."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, draw: audit.Draw[audit.Input]) -> audit.Draw[audit.Input]:
        def counted(data: audit.Input, rng: RandomSource) -> audit.Matrix:
            self._done += 1
            self._progress(self._done, self._total)
            return draw(data, rng)

        return counted


_Audit: TypeAlias = Callable[[int, _Counted], Row]


def _of_maps(options: dict[str, Any]) -> list[_Audit]:
    """Each relation at each epsilon, everything checked before the first draw."""
    entry = catalogue.get(options["name"])
    side = whole("resolution", options["resolution"] or "8", low=LOWEST_RESOLUTION, high=HIGHEST_RESOLUTION)
    parameters = dict(TELLING.get(entry.name, {})) | named_values(options["parameter"])
    built = [
        (_map(entry.name, relation, text, side, parameters), text)
        for relation in Relation
        if relation in entry.relations
        for text in options["epsilon"]
    ]
    return [partial(_map_row, mechanism, text) for mechanism, text in built]


def _map(
    name: str, relation: Relation, epsilon: str, side: int, parameters: Mapping[str, object]
) -> HeatmapMechanism:
    target = Target(relation=relation, epsilon=_epsilon(epsilon))
    return catalogue.build(name, target=target, resolution=side, parameters=parameters)


def _map_row(mechanism: HeatmapMechanism, epsilon: str, draws: int, counted: _Counted) -> Row:
    bound = audit.audit(
        counted(audit.private_part(mechanism)),
        *audit.neighbours(mechanism),
        SystemSource(),
        draws=draws,
        delta=float(mechanism.guarantee.delta),
    )
    return _row(mechanism, epsilon, None, bound)


_Point: TypeAlias = EmdLinear | Exponential | ShuffledCentroid


def _of_points(options: dict[str, Any]) -> list[_Audit]:
    """Each distance at each epsilon, on a street with a few persons; by shuffling, none beyond the radius."""
    if options["resolution"] is not None:
        raise ParameterError("resolution", options["resolution"], "none: a central point has no cells")
    parameters = named_values(options["parameter"])
    built = [(_point(options["name"], text, parameters), text) for text in options["epsilon"]]
    return [
        partial(_point_row, mechanism, text, distance_m)
        for mechanism, text in built
        for distance_m in (RADIUS_M // 2, RADIUS_M, 3 * RADIUS_M, math.floor(STREET.diameter_m))
        if mechanism.guarantee.loss(distance_m) < INFINITY
        and (distance_m >= RADIUS_M or isinstance(mechanism, ShuffledCentroid))
    ]


def _point(name: str, epsilon: str, parameters: Mapping[str, object]) -> _Point:
    entry = catalogue.get(name)
    target = Target(
        relation=Relation.REPLACE,
        epsilon=_epsilon(epsilon),
        delta=catalogue.LARGEST_DELTA if entry.usual_delta else Fraction(0),  # smaller ones show nothing
        radius_m=Fraction(RADIUS_M),
    )
    persons = PARTICIPANTS if entry.usual_delta else PERSONS
    parameters = {**TELLING.get(name, {}), **parameters}
    built = catalogue.build_centroid(
        name, target=target, region=STREET, persons=persons, parameters=parameters
    )
    if not isinstance(built, _Point):
        raise ParameterError("NAME", name, f"{Exponential.name} or another central point")
    return built


def _point_row(mechanism: _Point, epsilon: str, distance_m: int, draws: int, counted: _Counted) -> Row:
    delta = float(mechanism.guarantee.delta)
    if isinstance(mechanism, Exponential):
        draw, inputs = audit.drawn_place(mechanism), audit.moved(mechanism, Fraction(distance_m))
    elif isinstance(mechanism, EmdLinear):
        draw, inputs = audit.drawn_sums(mechanism), linear_audit.moved(mechanism, Fraction(distance_m))
    else:
        draw, inputs = audit.drawn_sums(mechanism), audit.one_moved(mechanism, Fraction(distance_m))
    bound = audit.audit(counted(draw), *inputs, SystemSource(), draws=draws, delta=delta)
    return _row(mechanism, epsilon, distance_m, bound)


def _of_answers(options: dict[str, Any]) -> list[_Audit]:
    """Each distance at each epsilon, on the street with a few persons at its western end."""
    if options["resolution"] is not None:
        raise ParameterError("resolution", options["resolution"], "none: what is released has no cells")
    given = {**TELLING[options["name"]], **named_values(options["parameter"])}
    built = [(_answers(options["name"], text, given), text) for text in options["epsilon"]]
    distances = (RADIUS_M // 2, RADIUS_M, 3 * RADIUS_M)
    return [partial(_answers_row, mechanism, text, far) for mechanism, text in built for far in distances]


def _answers(name: str, epsilon: str, parameters: Mapping[str, object]) -> LinearAnswers:
    target = Target(relation=Relation.REPLACE, epsilon=_epsilon(epsilon), radius_m=Fraction(RADIUS_M))
    return catalogue.build_answers(name, target=target, region=STREET, persons=PERSONS, parameters=parameters)


def _answers_row(
    mechanism: LinearAnswers, epsilon: str, distance_m: int, draws: int, counted: _Counted
) -> Row:
    inputs = linear_audit.moved_out(mechanism, Fraction(distance_m))
    drawn = counted(audit.drawn_sums(mechanism))
    bound = audit.audit(drawn, *inputs, SystemSource(), draws=draws)
    return _row(mechanism, epsilon, distance_m, bound)


def _of_items(options: dict[str, Any]) -> list[_Audit]:
    """Each distance at each epsilon, on the cells of a square with a few persons."""
    side = whole("resolution", options["resolution"] or "8", low=LOWEST_RESOLUTION, high=HIGHEST_RESOLUTION)
    given = {**TELLING[options["name"]], **named_values(options["parameter"])}
    built = [(_items(options["name"], text, side, given), text) for text in options["epsilon"]]
    distances = (2 * RADIUS_M, 3 * RADIUS_M, math.ceil(SQUARE.diameter_m))
    return [partial(_items_row, mechanism, text, far) for mechanism, text in built for far in distances]


def _items(name: str, epsilon: str, side: int, parameters: Mapping[str, object]) -> EmdItemwise:
    target = Target(
        relation=Relation.REPLACE,
        epsilon=_epsilon(epsilon),
        delta=catalogue.LARGEST_DELTA,  # smaller ones show nothing
        radius_m=Fraction(RADIUS_M),
    )
    return catalogue.build_items(
        name, target=target, region=SQUARE, persons=ALONE, resolution=side, parameters=parameters
    )


def _items_row(mechanism: EmdItemwise, epsilon: str, distance_m: int, draws: int, counted: _Counted) -> Row:
    inputs = itemwise_audit.moved(mechanism, Fraction(distance_m))
    drawn, delta = counted(itemwise_audit.drawn_reports(mechanism)), float(mechanism.delta)
    bound = audit.audit(drawn, *inputs, SystemSource(), draws=draws, delta=delta)
    return _row(mechanism, epsilon, distance_m, bound)


def _of_reports(options: dict[str, Any]) -> list[_Audit]:
    """Each distance at each epsilon, on a small square of cells."""
    for name, given in (("resolution", options["resolution"]), ("parameter", options["parameter"])):
        if given:
            raise ParameterError(name, given, "nothing: reports are audited on a small square of cells")
    built = [(_reports(options["name"], text), text) for text in options["epsilon"]]
    return [
        partial(_report_row, mechanism, text, cell)
        for mechanism, text in built
        for cell in ((1, 0), (2, 0), (SIDE - 1, SIDE - 1))
    ]


def _reports(name: str, epsilon: str) -> LocalMechanism:
    target = Target(relation=Relation.REPLACE, epsilon=_epsilon(epsilon), radius_m=Fraction(CELL_M))
    cell_m = Fraction(CELL_M)
    lattice = Lattice(columns=SIDE, rows=SIDE, column_m=cell_m, row_m=cell_m)
    return choices.get(name).mechanism.calibrate(target, lattice=lattice)


def _report_row(
    mechanism: LocalMechanism, epsilon: str, cell: audit.Cell, draws: int, counted: _Counted
) -> Row:
    distance_m = math.ceil(math.hypot(*cell) * CELL_M)
    drawn = counted(audit.drawn_report(mechanism))
    bound = audit.audit(drawn, (0, 0), cell, SystemSource(), draws=draws)
    return _row(mechanism, epsilon, distance_m, bound)


_AUDITS: Final[Mapping[Kind, Callable[[dict[str, Any]], list[_Audit]]]] = {
    "heatmap": _of_maps,
    "centroid": _of_points,
    "zones": _of_answers,
    "distances": _of_answers,
}


def _audits(name: str) -> Callable[[dict[str, Any]], list[_Audit]]:
    local = name in {entry.name for entry in choices.entries()}
    if local:
        return _of_reports
    entry = catalogue.get(name)
    return _of_items if isinstance(entry, catalogue.ItemsEntry) else _AUDITS[entry.kind]


def _row(
    mechanism: Mechanism | LocalMechanism, epsilon: str, distance_m: int | None, bound: audit.LowerBound
) -> Row:
    guarantee = mechanism.guarantee
    claim = guarantee.loss(INFINITY if distance_m is None else distance_m)
    return Row(
        mechanism=mechanism.name,
        relation=mechanism.relation,
        epsilon=epsilon,
        distance_m=distance_m,
        delta=float(guarantee.delta),
        claim=float(claim),
        lower_bound=bound.epsilon,
        confidence=bound.confidence,
        draws=bound.draws,
        exceeded=bound.epsilon > claim,
    )


def _epsilon(text: str) -> Fraction:
    return exact_decimal("epsilon", text, low=0, low_open=True, high=settings.MAX_EPSILON)


def _table(rows: list[Row]) -> list[str]:
    moved = rows[0].distance_m is not None
    distance = f" {'metres':>7}" if moved else ""
    names = f"{'mechanism':<16} {'relation':<10} {'epsilon':>7}{distance}"
    lines = [f"{names} {'claim':>9} {'lower bound':>11}  verdict"]
    lines += [
        f"{row.mechanism:<16} {row.relation:<10} {row.epsilon:>7}"
        f"{f' {row.distance_m:>7}' if moved else ''} {row.claim:>9.4f} {row.lower_bound:>11.4f}"
        f"  {'REFUTED: it costs more than it claims' if row.exceeded else 'below its claim'}"
        for row in rows
    ]
    lines.append(
        f"Each bound holds except with probability {1 - rows[0].confidence:.0e} "
        f"({rows[0].draws} draws on each of two neighbours); a bound below the claim proves nothing more."
    )
    return lines
