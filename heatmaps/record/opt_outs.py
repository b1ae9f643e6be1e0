"""Records who opted out, so that a restored database does not bring them back.

Keyed hashes alone, as the database has them: without a dataset's key nobody is recognised.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from heatmaps.models import Dataset
from heatmaps.record.elections import OPT_OUTS, folders
from heatmaps.record.journal import BACK, OUT, opened

FILE: Final = OPT_OUTS
Person = tuple[int, int]  # both halves of the hash


def note_out(dataset: Dataset, persons: Iterable[Person]) -> None:
    """Writes opt-outs before they are committed: one that never was is kept all the same.

    Errors: RecordError.
    """
    _note(OUT, dataset, persons)


def note_back(dataset: Dataset, persons: Iterable[Person]) -> None:
    """Writes that opt-outs are taken back, once that is committed. Errors: RecordError."""
    _note(BACK, dataset, persons)


def recorded(dataset: Dataset) -> set[Person]:
    """Returns persons who opted out by the record or the witness, and did not take it back."""
    return set().union(*(_left_out(folder / FILE, dataset) for folder in folders()))


def is_whole() -> bool:
    """Tells whether the record, or the witness, has the list that began with it, and can read every line."""
    return any(_is_whole(folder / FILE) for folder in folders())


def _is_whole(path: Path) -> bool:
    with opened(path) as journal:
        return bool(journal.entries.place)


def _note(kind: str, dataset: Dataset, persons: Iterable[Person]) -> None:
    key = dataset.key_fingerprint
    lines = [{"kind": kind, "dataset": key, "person": list(person)} for person in persons]
    for folder in folders() if lines else ():
        with opened(folder / FILE) as journal:
            journal.append(*lines)


def _left_out(path: Path, dataset: Dataset) -> set[Person]:
    with opened(path) as journal:
        lines = journal.lines()
    persons: dict[Person, bool] = {}
    for line in lines:
        if line.get("dataset") == dataset.key_fingerprint:
            first, rest = line["person"]
            persons[int(first), int(rest)] = line["kind"] == OUT
    return {person for person, is_out in persons.items() if is_out}
