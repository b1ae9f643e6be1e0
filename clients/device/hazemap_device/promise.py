"""Checks what a round promises on the integers that reports are drawn with, before anything is asked."""

from fractions import Fraction
from typing import Final

from hazemap_device.encodings.encoding import Ground
from hazemap_device.errors import DeviceError
from hazemap_device.facts import Facts
from hazemap_device.strict_json import exact

TOLERANCE: Final = 1e-6  # relative; far more than logarithms lose, far less than matters


def check_promise(facts: Facts, table: bytes) -> None:
    """Compares a report's cost with the facts. Errors: `DeviceError` (`false_promise`) where it costs more.

    Of local kinds: between any two cells, and between cells whose centres are at most the radius apart. That
    is necessary, for centres are places, too, and an honest table keeps it: what is claimed at a radius
    includes what rounding to cells adds. Of shuffled kinds only that the table is a law at all: what they
    promise depends on the noise of everybody.
    """
    encoding, loss = facts.encoding, facts.loss
    encoding.check_table(table)
    if not encoding.is_local:
        return
    region = facts.region
    ground = Ground(
        width_m=region.width_m, height_m=region.height_m, radius_m=float(exact(loss.radius_m) or 0)
    )
    losses = encoding.losses(table, ground)
    for costs, claimed in ((losses.anywhere, loss.record_epsilon), (losses.near, loss.epsilon)):
        bound = exact(claimed)
        if bound is not None and Fraction(costs) > bound * (1 + Fraction(TOLERANCE)):
            raise DeviceError(
                "false_promise",
                "A report would give away more than this round says. Do not take part, and tell them.",
            )
