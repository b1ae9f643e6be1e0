"""Says what nobody can check about the file behind a map, and on what a promise then depends."""

from dataclasses import dataclass
from typing import Final

from heatmaps.guides.release_sheets import NOT_FROM_THESE_PEOPLE, SHEET_IS_RIGHT, FileSheet

_GUIDED: Final = "This map was guided by a file"
_GUIDED_BEFORE: Final = "This map goes back to one that was guided by a file"  # further back
_UNKNOWN: Final = (
    "Hazemap cannot check that the file was not made from these people: if it was, nothing is promised."
)
_SHEET: Final = (
    "that is a Hazemap map. What its release sheet promises is counted here, as if it was made from these "
    "people. Hazemap cannot tell of whom it is, nor check the sheet: if it is wrong, nothing is promised."
)
_FILE_BEFORE: Final = (
    "That map goes back to another file: if it was made from these people, nothing is promised."
)
UNCHECKED: Final = f"{_GUIDED}. {_UNKNOWN}"
UNCHECKED_BEFORE: Final = f"{_GUIDED_BEFORE}. {_UNKNOWN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """Says what nobody can check about the start of a map."""

    sentence: str
    conditions: tuple[str, ...]  # on which the stated promise depends


def unchecked_file(sheet: FileSheet | None, *, is_before: bool = False) -> Unchecked:
    """Words it of a file. sheet: its own, where it is counted. is_before: an earlier map started from it."""
    if sheet is None:
        return Unchecked(
            sentence=UNCHECKED_BEFORE if is_before else UNCHECKED, conditions=(NOT_FROM_THESE_PEOPLE,)
        )
    has_file = NOT_FROM_THESE_PEOPLE in sheet.conditions
    more = f" {_FILE_BEFORE}" if has_file else ""
    return Unchecked(
        sentence=f"{_GUIDED_BEFORE if is_before else _GUIDED} {_SHEET}{more}",
        conditions=(SHEET_IS_RIGHT, NOT_FROM_THESE_PEOPLE) if has_file else (SHEET_IS_RIGHT,),
    )
