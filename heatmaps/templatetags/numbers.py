"""Shows amounts, moments and mechanisms in templates: short for reading, exact on demand."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

from django import template
from django.utils.html import format_html

from heatmaps import numbers
from heatmaps.wording.mechanisms import mechanism_title

register = template.Library()
_COLONS: Final = 2  # of a time with seconds


@register.filter
def amount(exact: str) -> str:
    """Rounds an exact decimal that is taken or promised up to four digits; leaves words as they are."""
    return _shortened(exact, numbers.amount)


@register.filter
def amount_left(exact: str) -> str:
    """Rounds an exact decimal that is left down to four digits; leaves words as they are."""
    return _shortened(exact, numbers.amount_left)


@register.filter
def moment(at: datetime | str, to: str = "minutes") -> str:
    """Writes a moment in UTC; `local_time.js` puts the reader's own time beside it.

    A text is "2026-11-22 10:30[:05]" in UTC. The attribute tells no more than the text:
    seconds can be secret.
    """
    if isinstance(at, str):
        to = "seconds" if at.count(":") == _COLONS else "minutes"
        at = datetime.fromisoformat(at).replace(tzinfo=UTC)
    text = numbers.moment(at, seconds=to == "seconds")
    stamp = text.removesuffix(" UTC").replace(" ", "T")
    return format_html('<time datetime="{}Z">{}</time>', stamp, text)


@register.filter
def day(at: date) -> str:
    """Writes a day, in UTC."""
    return format_html('<time datetime="{}">{}</time>', numbers.day(at), numbers.day(at))


@register.filter
def count(value: int) -> str:
    """Writes a whole number with commas."""
    return numbers.count(value)


@register.filter
def exact_length(length_m: int) -> str:
    """Writes a length that a promise is about, to the metre."""
    return numbers.exact_length(length_m)


@register.filter
def size(n_bytes: int) -> str:
    """Writes the size of a file."""
    return numbers.size(n_bytes)


@register.filter
def duration(seconds: float) -> str:
    """Writes a time to wait, rounded up."""
    return numbers.duration(seconds)


register.filter(mechanism_title)


def _shortened(exact: str, shorten: Callable[[Fraction], str]) -> str:
    try:
        value = Fraction(Decimal(exact))
    except InvalidOperation:
        return exact
    text = shorten(value)
    if text.replace(",", "") == exact:
        return text
    return format_html('<data value="{0}" title="Exactly {0}">{1}</data>', exact, text)
