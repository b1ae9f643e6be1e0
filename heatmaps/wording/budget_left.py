"""Says what a budget still holds, in maps like the last one."""

from fractions import Fraction
from typing import Final

from heatmaps.numbers import DOWN, count, number

NO_LIMIT: Final = "no limit"
USED_UP: Final = "budget used up"
_MANY: Final = 1000  # nobody plans so many


def part_left(percent_used: str) -> str:
    """Says what is left where nothing was released yet; `percent_used` is a plain decimal, "" without any
    limit."""
    if not percent_used:
        return NO_LIMIT
    left = number(100 - Fraction(percent_used), rounding=DOWN)
    return USED_UP if left == "0" else f"{left} % of the budget left"


def more_like_the_last(word: str, more: int | None, *, is_used_up: bool) -> str:
    """Says how many more releases of a kind, named by its `word`, fit; `more` None: nothing that the last one
    took is limited."""
    if more is None:
        return NO_LIMIT
    if is_used_up:
        return USED_UP
    first, _, rest = word.partition(" ")
    if more == 0:
        return f"too little left for another {word} like the last"
    plural = f"{first}{'' if more == 1 else 's'} {rest}".strip()
    how_many = f"over {count(_MANY)}" if more > _MANY else f"about {count(more)}"
    return f"{how_many} more {plural} like the last"
