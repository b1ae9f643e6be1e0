"""Keeps measurements in a file as they are made: what was measured once is not measured again."""

import json
from pathlib import Path

Key = tuple[int, int, str, int, str]  # seed, persons, epsilon, number of the trial, label


class MeasurementFile:
    """Keeps lines of JSON, [seed, persons, epsilon, trial, label, values...]; without a path nothing.

    A file serves one choice of check-ins and of places. Lines of a mechanism that has changed must be taken
    out by hand. A last line that was cut off is dropped.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._rows: dict[Key, list[float]] = {}
        text = path.read_text() if path is not None and path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        for line in whole.splitlines():
            seed, persons, epsilon, number, label, *values = json.loads(line)
            self._rows[seed, persons, epsilon, number, label] = values
        if path is not None and whole != text:
            path.write_text(whole)

    def get(self, key: Key) -> list[float] | None:
        return self._rows.get(key)

    def add(self, key: Key, values: list[float]) -> None:
        self._rows[key] = values
        if self._path is not None:
            with self._path.open("a") as lines:
                lines.write(json.dumps([*key, *values]) + "\n")
