"""Says in plain words what a round asks for, what a report costs, and what example reports look like."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from hazemap_device.encodings import Encoding
from hazemap_device.encodings.axes import Axes
from hazemap_device.encodings.gkrr import Gkrr
from hazemap_device.encodings.items import Items
from hazemap_device.encodings.lattice import Lattice
from hazemap_device.encodings.offsets import Offsets
from hazemap_device.encodings.rows import Rows
from hazemap_device.encodings.shares import Shares
from hazemap_device.facts import Facts, Role
from hazemap_device.odometer import Counted
from hazemap_device.places import Place, Region
from hazemap_device.strict_json import exact

_FOUR_DIGITS: Final = Context(prec=4, rounding=ROUND_CEILING)
_SURE: Final = 30  # a loss at which guesses are right in 100 of 100 cases


def summary(facts: Facts) -> list[str]:
    """Returns lines on who asks what, when, and what one report costs."""
    return [
        f"{printable(facts.title)}: round {facts.number}",
        printable(facts.question),
        "",
        f"Asked by {_named(facts.analyser)}: sees what all messages say, not who sent them.",
        f"Mixed by {_named(facts.shuffler)}: sees who sends and when, not what.",
        *_roles(facts),
        f"Open from {_moment(facts.opens_at)} to {_moment(facts.closes_at)}.",
        f"A result needs {facts.least_reports} reports. A person may send {facts.reports_per_person}.",
        "",
        *cost(facts),
        "",
        f"Messages of one report: {facts.messages}, {facts.packet_bytes / 1000:.1f} kB, wherever you are.",
        "Not hidden: that you take part, when you send, and your network address, from the shuffler.",
    ]


def cost(facts: Facts) -> list[str]:
    """Returns lines on what one report costs."""
    loss = facts.loss
    near = f"two places up to {rounded(loss.radius_m)} metres apart"
    lines = [
        "Your place is blurred on this device. Nothing else of it leaves.",
        f"One report costs ε = {rounded(loss.epsilon)}, δ = {rounded(loss.delta)} at this distance:",
        f"  {_guesses(loss.epsilon, loss.delta, near)}",
        f"  {_guesses(loss.record_epsilon, loss.delta, 'any two places')}",
    ]
    if (count := facts.reports_per_person) > 1 and exact(loss.epsilon) is not None:
        epsilon, delta = together([("", loss.epsilon, loss.delta)] * count)
        costs = f"ε = {_up(epsilon)}, δ = {_up(delta)}" if delta < 1 else "no promise (δ = 1)"
        lines.append(f"All {count} reports together: {costs}.")
    if facts.trust == "local":
        return [*lines, "This holds whoever sees your report; this device has checked it."]
    # Of one operator, and of crowds that anybody can make, facts state what is left without a shuffler.
    if facts.loss_alone == facts.loss:
        lines.append("This holds without the mixing, whoever else takes part.")
    else:
        alone = facts.loss_alone
        lines += [
            "This holds as long as the two that ask and mix do not work together.",
            f"If they do, it is ε = {rounded(alone.epsilon)}, δ = {rounded(alone.delta)}:",
            f"  {_guesses(alone.epsilon, alone.delta, near)}",
            f"  {_guesses(alone.record_epsilon, alone.delta, 'any two places')}",
        ]
    return [
        *lines,
        "This device cannot check these numbers. Who asks made the noise's table; anybody can make it again.",
    ]


def totals(reports: Iterable[Counted], *, complete_since: int = 0) -> list[str]:
    """Returns lines on what was sent, and what it costs together, by collection.

    complete_since: seconds since 1970; 0 where no report is missing.
    """
    by_collection: dict[str, list[Counted]] = {}
    for report in reports:
        by_collection.setdefault(report.collection, []).append(report)
    if not by_collection:
        return ["Nothing was sent.", *_doubt(complete_since)]
    lines = []
    for collection, counted in by_collection.items():
        lines.append(f"{collection}:")
        lines += [
            f"  round {report.number}: {_STATES[report.state]}, ε = {rounded(report.epsilon)}, "
            f"δ = {rounded(report.delta)} at {rounded(report.radius_m)} metres"
            for report in counted
        ]
        lines.append(f"  {_total(counted)}")
    return lines + _doubt(complete_since)


def _doubt(complete_since: int) -> list[str]:
    if not complete_since:
        return []
    day = datetime.fromtimestamp(complete_since, tz=UTC).date()
    return [f"This record is a copy: reports sent before {day} may be missing from it."]


def together(reports: Iterable[tuple[str, str, str]]) -> tuple[Fraction, Fraction]:
    """Adds ε and δ of reports, each given by its round, ε and δ; δ = 1 promises nothing.

    Those of a round are mixed with each other: each change of one costs its δ, and on it the loss of all
    before.
    """
    before: dict[str, Fraction] = {}
    delta = Fraction(0)
    for of_round, epsilon, own in reports:
        loss = before.get(of_round, Fraction(0))
        if (missed := exact(own) or Fraction(0)) > 0:
            delta += missed * Fraction(math.exp(min(float(loss), 700)) * (1 + 1e-12))
        before[of_round] = loss + (exact(epsilon) or 0)
    return sum(before.values(), start=Fraction(0)), min(delta, Fraction(1))


def example(encoding: Encoding, messages: list[bytes], region: Region) -> str:
    """Says what the messages of one report would tell whoever opens them."""
    match encoding:
        case Offsets() | Axes() | Rows():
            return _middle(messages[0], encoding.lattice, region)
        case Items():
            return "; ".join(_middle(message, encoding.axes.lattice, region) for message in messages[:3])
        case Gkrr():
            return f"square {int.from_bytes(messages[0], 'big')} of {4**encoding.level}"
        case Shares():
            numbers = [str(int.from_bytes(message[4:], "big")) for message in messages[:3]]
            return f"{len(messages)} numbers, each random by itself: {', '.join(numbers)}, …"
    ones = [sum(message == bytes((2 * axis + 1,)) for message in messages) for axis in (0, 1)]
    return f"{ones[0]} ones for east, {ones[1]} for north, among {len(messages)} bits that are mixed with all"


def rounded(text: str) -> str:
    """Rounds an exact text up to four digits; "no bound" for "inf"."""
    value = exact(text)
    return "no bound" if value is None else _up(value)


def printable(text: str) -> str:
    """Replaces what could move a terminal's cursor or turn its direction of writing."""
    return "".join(character if character.isprintable() else " " for character in text)


_STATES: Final = {
    "received": "received",
    "pending": "still to be sent",
    "dropped": "not taken, counted all the same",
    "lost": "lost before it was sent, counted all the same",
}


def _named(role: Role) -> str:
    return f"{printable(role.operator)} ({role.url})"


def _roles(facts: Facts) -> list[str]:
    if facts.analyser.is_same_as(facts.shuffler):
        return ["Both are run by the same operator, which could see who sent what if it wanted to."]
    return []


def _guesses(epsilon: str, delta: str, between: str) -> str:
    value = exact(epsilon)
    if value is None:
        return f"Between {between}: no bound."
    odds = math.exp(min(float(value), _SURE))
    cases = min(100, math.ceil(100 * (odds + float(exact(delta) or 0)) / (1 + odds) - 1e-9))
    return f"Who hesitates between {between} guesses right in at most {cases} of 100 cases instead of 50."


def _total(counted: list[Counted]) -> str:
    if any(exact(report.epsilon) is None for report in counted):
        return "Together: no bound."
    epsilon, delta = together((report.round, report.epsilon, report.delta) for report in counted)
    if delta >= 1:
        return "Together: no promise (δ = 1)."
    radii = [radius for report in counted if (radius := exact(report.radius_m)) is not None]
    at = f", each place up to {_up(min(radii))} metres off" if radii else ""
    return f"Together: ε = {_up(epsilon)}, δ = {_up(delta)}{at}."


def _up(value: Fraction) -> str:
    quotient = _FOUR_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{quotient.normalize():f}" if value == 0 or value >= Fraction(1, 1000) else f"{quotient:.3e}"


def _middle(message: bytes, lattice: Lattice, region: Region) -> str:
    column, row = divmod(int.from_bytes(message, "big"), lattice.rows)
    lat = region.south + (region.north - region.south) * (2 * row + 1) / (2 * lattice.rows)
    lon = region.west + (region.east - region.west) * (2 * column + 1) / (2 * lattice.columns)
    middle = Place(lat=lat, lon=lon)
    return f"{middle.lat:.5f},{middle.lon:.5f}"


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
