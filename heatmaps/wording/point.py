"""Says what a release sheet has of a central point."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from heatmaps.numbers import degrees, error_length
from heatmaps.result_kinds.kind import SheetPart
from mechanisms.results.point import Point
from mechanisms.space.grid import Region


def sheet_part(point: Point, _: Region) -> SheetPart:
    """Returns everything that was released."""
    return SheetPart(measures={"point": asdict(point)})


def sheet_facts(sheet: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Returns (title, text) of the point."""
    point = sheet["point"]
    return (
        ("Point", f"{degrees(point['lat'])}, {degrees(point['lon'])} (latitude, longitude)"),
        ("Expected distance from the truth", error_length(point["expected_m"])),
        ("Kept with probability 95 %", error_length(point["within_m"])),
    )
