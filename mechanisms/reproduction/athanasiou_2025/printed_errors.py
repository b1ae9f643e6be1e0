"""Reads the errors that Tables 2 and 3 of Athanasiou et al. 2025 print, from the file beside this one."""

import csv
from pathlib import Path
from typing import TypeAlias

Printed: TypeAlias = tuple[int, str, dict[str, float]]


def printed_errors(table: int) -> tuple[Printed, ...]:
    """Returns (n, ε, error by mechanism) of each setting of that table."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.pop("table") == str(table)]
    return tuple(
        (int(row.pop("n")), row.pop("epsilon"), {name: float(error) for name, error in row.items()})
        for row in rows
    )
