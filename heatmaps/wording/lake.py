"""Words what a table in a lake has, and why it could not be read: for stewards only."""

from collections.abc import Mapping
from typing import Final

from heatmaps.numbers import count

TRUSTED: Final = (
    "This server reads sums only. Whoever administers the Spark cluster is as trusted as whoever "
    "administers this server’s database."
)
# In the order in which a row is looked at: each counts once.
_REASONS: Final[Mapping[str, str]] = {
    "no_lon": "without a valid longitude",
    "no_lat": "without a valid latitude",
    "no_time": "with a time out of range",
    "no_user": "without a valid user",
}


def rows_words(rows: int, invalid: Mapping[str, int]) -> str:
    """Says how many rows a version has, and how many no release reads."""
    in_table = f"{count(rows)} row{'' if rows == 1 else 's'} in the table"
    left_out = [f"{count(invalid[name])} {words}" for name, words in _REASONS.items() if invalid.get(name)]
    return f"{in_table}; left out: {', '.join(left_out)}" if left_out else f"{in_table}, all valid"


def failure_words(failure: str) -> str:
    """Words a failure as a sentence of its own."""
    text = failure[:1].upper() + failure[1:]
    return text if text.endswith((".", "?")) else f"{text}."
