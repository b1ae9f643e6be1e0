"""Converts amounts to integers and computes what a guarantee charges to each account."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from heatmaps.models import AccountKind
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation, RelationMismatch

EPSILON_UNITS: Final = 10**12  # units of an ε account per ε of 1
DELTA_UNITS: Final = 10**18  # units of a δ account per δ of 1
# Largest limit, charge and balance. A charge above it is stored as "no bound", which is rounding up;
# half of 64 bits, so that a sum of two never overflows inside the database.
LARGEST: Final = 2**62

Charges = Mapping[AccountKind, int | None]

ACCOUNTS: Final[Mapping[Relation, tuple[AccountKind, ...]]] = {
    Relation.ADD_REMOVE: (AccountKind.PRESENCE, AccountKind.DELTA),
    Relation.REPLACE: (AccountKind.RECORD, AccountKind.RADIUS, AccountKind.DELTA),
}


def units_per_one(kind: AccountKind) -> int:
    """Returns the account's units in 1."""
    return DELTA_UNITS if kind == AccountKind.DELTA else EPSILON_UNITS


def units_up(amount: Fraction, kind: AccountKind) -> int:
    """Returns the amount in the account's units, rounded up. Errors: ValueError below 0."""
    if amount < 0:
        raise ValueError(f"amount is {amount}, allowed: at least 0")
    return math.ceil(amount * units_per_one(kind))


def charges(
    *, relation: Relation, radius_m: int | None, guarantee: Guarantee, diameter_m: float
) -> dict[AccountKind, int | None]:
    """Returns a release's cost by account, in units rounded up; None where the loss has no bound.

    `diameter_m` is the region's: no two places of it are further apart in its projection. `radius_m` is the
    distance of the radius account (`REPLACE` only). Source: `docs/explanation/law.md`, "A guarantee is a
    value".
    """
    if guarantee.relation is not relation:
        raise RelationMismatch(f"a guarantee under {guarantee.relation} cannot be charged under {relation}")
    if relation is Relation.ADD_REMOVE:
        losses = {AccountKind.PRESENCE: guarantee.loss(INFINITY)}
    elif radius_m is None:
        raise ValueError("radius_m is missing, allowed: at least 1 under replace")
    else:
        # The next whole metre covers the rounding of the diameter's own computation.
        diameter = math.floor(diameter_m) + 1
        losses = {
            AccountKind.RECORD: guarantee.exchange_loss(diameter),
            AccountKind.RADIUS: guarantee.loss(radius_m),
        }
    return {
        kind: _bounded(loss, kind) for kind, loss in (losses | {AccountKind.DELTA: guarantee.delta}).items()
    }


def as_decimal(units: int, kind: AccountKind) -> str:
    """Writes the exact amount as a plain decimal for people, such as "0.5"; never through a float."""
    whole, rest = divmod(abs(units), units_per_one(kind))
    digits = str(rest).zfill(len(str(units_per_one(kind))) - 1).rstrip("0")
    return ("-" if units < 0 else "") + (f"{whole}.{digits}" if digits else str(whole))


def _bounded(loss: Exact, kind: AccountKind) -> int | None:
    if not isinstance(loss, Fraction):
        return None
    units = units_up(loss, kind)
    return units if units <= LARGEST else None
