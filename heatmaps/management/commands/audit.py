"""`manage.py audit NAME`: finds a statistical lower bound on a mechanism's loss, beside its claim."""

from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.core.management.base import CommandError

from heatmaps.management import auditing
from heatmaps.management.auditing import AuditCase
from heatmaps.management.parsing import PureCommand, whole
from heatmaps.management.progress import Progress
from mechanisms.audit import lower_bound as audit
from mechanisms.catalogue import local
from mechanisms.guarantee import INFINITY
from mechanisms.randomness import RandomSource, SystemSource

MOST_DRAWS: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """`lower_bound` and `claim` are losses at `delta` between two neighbours of `relation`.

    distance_m: how far one person's record was moved; None: any two neighbours.
    guided: the mechanism begins from a guide.
    """

    mechanism: str
    relation: str
    epsilon: str
    distance_m: float | None
    guided: bool
    delta: float
    claim: float
    lower_bound: float
    confidence: float
    draws: int
    exceeded: bool


class Command(PureCommand):
    help = (
        "Draw from two neighbouring made-up inputs and bound the loss from below, for each relation the "
        "mechanism allows. Exit with 1 when a bound exceeds the claim. It refutes claims and proves none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("name", metavar="NAME", help=f"a mechanism of the catalogue, or a local one: {local.names()}")
        add("--epsilon", nargs="+", default=["1"], metavar="E", help="plain decimals (default 1)")
        add("--draws", default="20000", metavar="N", help="on each of the two inputs (default 20000)")
        add("--resolution", help="of a map: cells a side, a power of two from 4 to 16 (default 8)")
        add("--parameter", nargs="+", action="extend", default=[], metavar="NAME=VALUE")
        add("--json", action="store_true", help="print one JSON object")

    def run_on(self, options: dict[str, Any]) -> None:
        draws = whole("draws", options["draws"], low=100, high=MOST_DRAWS)
        cases = auditing.cases(options)
        counted = _Counts(Progress(self.stderr, "draw"), 2 * draws * len(cases))
        rows = [_row(case, draws, counted) for case in cases]
        self.tell(options, {"rows": [asdict(row) for row in rows]}, _table(rows))
        exceeded = sum(row.exceeded for row in rows)
        if exceeded:
            raise CommandError(f"{exceeded} of {len(rows)} claims of {rows[0].mechanism} are refuted")


class _Counts:
    """Passes draws on and tells the progress of all of them."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, draw: audit.Draw[audit.Input]) -> audit.Draw[audit.Input]:
        def counted(data: audit.Input, rng: RandomSource) -> audit.Matrix:
            self._done += 1
            self._progress(self._done, self._total)
            return draw(data, rng)

        return counted


def _row(case: AuditCase[audit.Input], draws: int, counted: _Counts) -> AuditRow:
    guarantee = case.mechanism.guarantee
    bound = audit.audit(
        counted(case.draw), *case.inputs, SystemSource(), draws=draws, delta=float(guarantee.delta)
    )
    claim = guarantee.loss(INFINITY if case.distance_m is None else case.distance_m)
    return AuditRow(
        mechanism=case.mechanism.name,
        relation=case.mechanism.relation,
        epsilon=case.epsilon,
        distance_m=case.distance_m,
        guided=case.guided,
        delta=float(guarantee.delta),
        claim=float(claim),
        lower_bound=bound.epsilon,
        confidence=bound.confidence,
        draws=bound.draws,
        exceeded=bound.epsilon > claim,
    )


def _table(rows: list[AuditRow]) -> list[str]:
    moved = rows[0].distance_m is not None
    distance = f" {'metres':>7}" if moved else ""
    names = f"{'mechanism':<16} {'relation':<10} {'epsilon':>7}{distance}"
    lines = [f"{names} {'claim':>9} {'lower bound':>11}  verdict"]
    lines += [
        f"{row.mechanism + ', guided' * row.guided:<16} {row.relation:<10} {row.epsilon:>7}"
        f"{f' {row.distance_m:>7}' if moved else ''} {row.claim:>9.4f} {row.lower_bound:>11.4f}"
        f"  {'REFUTED: it costs more than it claims' if row.exceeded else 'below its claim'}"
        for row in rows
    ]
    lines.append(
        f"Each bound holds except with probability {1 - rows[0].confidence:.0e} "
        f"({rows[0].draws} draws on each of two neighbours); a bound below the claim proves nothing more."
    )
    return lines
