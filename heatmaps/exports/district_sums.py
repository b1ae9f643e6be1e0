"""Adds up published maps in areas, and writes the sums as a table.

Only the published result is read. The same question is answered from what was kept of it.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import BinaryIO, Final

from heatmaps import numbers, queries
from heatmaps.districts import children
from heatmaps.districts.children import AreaSum
from heatmaps.exports import file_cache
from heatmaps.exports.answers import write_table
from heatmaps.exports.file_cache import NotRendered
from heatmaps.exports.release_files import kind_of
from heatmaps.exports.version import version
from heatmaps.models import DistrictFile, Release
from heatmaps.releases import lifecycle
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

COLUMNS: Final = ("area", "people", "within", "share", "covered")
WITHIN: Final = 2  # standard errors to either side that are told of a sum
_ERRORS_STATED: Final = "a map that says how far sums of its squares may be off"
LEAST: Final = 1e-3  # of an area, or of the map: what has less in common lies outside
_SECONDS: Final = 20.0  # for which somebody else's same question is waited for


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Holds people in the areas of a file that lie on the map, in the file's order."""

    rows: tuple[AreaSum, ...]
    outside: int  # areas that do not lie on the map
    is_bound: bool  # as `heatmaps.districts.children.AddedUp` says


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """Holds a row of the table for people, the value and its error to equal decimals."""

    name: str
    people: str
    within: str
    share: str
    part: str  # what of it the map shows, in words; empty: all


def sums_of_file(release: Release, file: DistrictFile) -> Sums:
    """Returns the sums of a stored file's areas. Errors: as `sums_of`."""
    return _sums(release, bytes(file.content), packed=True)


def sums_of(release: Release, areas: bytes) -> Sums:
    """Returns the sums of GeoJSON that somebody sent.

    Errors: `ParameterError` naming `areas`, or `release` where it is no map with stated errors; Busy,
    NotRendered.
    """
    return _sums(release, areas, packed=False)


def has_sums(release: Release) -> bool:
    """Tells whether it is a map, which can be added up."""
    return kind_of(release).stem == "heatmap"


def rows_for_people(sums: Sums) -> list[ShownRow]:
    """Writes sums for people: the most people first."""
    return [_row_for_people(row) for row in sorted(sums.rows, key=lambda row: (-row.value, row.name))]


def write_csv(sums: Sums, stream: BinaryIO) -> None:
    """Writes `COLUMNS`; `within` holds the truth to either side 19 times in 20."""
    rows = [(row.name, row.value, WITHIN * row.error, row.share, row.covered) for row in sums.rows]
    write_table(COLUMNS, rows, stream)


def _sums(release: Release, areas: bytes, *, packed: bool) -> Sums:
    if not has_sums(release):
        raise ParameterError("release", f"a {kind_of(release).stem}", "a map")
    region = queries.released_region(release)
    digest, _ = lifecycle.facts_of_result(release)
    question = [version(), "sums", digest, list(region), packed, hashlib.sha256(areas).hexdigest()]

    def make(stream: BinaryIO) -> None:
        result = lifecycle.content_of_result(release)
        stream.write(json.dumps(_added_up(areas, packed, result, region)).encode())

    key = hashlib.sha256(json.dumps(question).encode()).hexdigest()
    with file_cache.opened(key, make, seconds=_SECONDS) as stream:
        content = json.load(stream)
    if content is None:
        raise ParameterError("release", "a map without errors", _ERRORS_STATED)
    return _on_map([AreaSum(*row) for row in content["rows"]], is_bound=content["is_bound"])


def _added_up(areas: bytes, packed: bool, result: bytes, region: Region) -> dict[str, object] | None:
    """Adds up; None where a map states no errors. What was too costly is not tried again for a while."""
    try:
        sums = children.add_up(areas, packed=packed, result=result, region=region)
    except children.TooCostly as refusal:
        if packed:
            raise NotRendered from refusal
        raise
    except ParameterError as refusal:
        if refusal.parameter != "release":
            raise
        return None
    return {"rows": [astuple(row) for row in sums.rows], "is_bound": sums.is_bound}


def _on_map(rows: Sequence[AreaSum], *, is_bound: bool) -> Sums:
    inside = tuple(row for row in rows if max(row.covered, row.filled) >= LEAST)
    return Sums(rows=inside, outside=len(rows) - len(inside), is_bound=is_bound)


def _row_for_people(row: AreaSum) -> ShownRow:
    within = WITHIN * row.error
    scale = numbers.Scale.of(within)
    scale = replace(scale, places=max(scale.places, 0))  # as the panel of the map says it
    return ShownRow(
        name=row.name,
        people=scale.nearest(row.value),
        within=scale.up(within),
        share=numbers.share(row.share),
        part=_part(row),
    )


def _part(row: AreaSum) -> str:
    if row.covered >= 1 - LEAST:
        return ""
    return "all of this map" if row.filled > 1 - LEAST else "the part on this map"
