"""Builds the tables and the features that files of several kinds share."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

from heatmaps import spreadsheets
from heatmaps.exports.content import Released

Properties = Mapping[str, object]  # of a geometry or a feature, as JSON


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str | float]], stream: BinaryIO) -> None:
    """Writes a CSV table, numbers to the last bit; names are quoted as RFC 4180 says, and what looks like a
    formula is a text."""
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    table.writerows(map(_cell, row) for row in rows)
    stream.write(text.getvalue().encode())


def write_features(
    released: Released, features: Iterable[tuple[Properties, Properties]], stream: BinaryIO
) -> None:
    """Writes a FeatureCollection (RFC 7946) of (geometry, properties), with the release sheet as its foreign
    member `release_sheet`."""
    collection = {
        "type": "FeatureCollection",
        "bbox": list(released.region),
        "release_sheet": released.sheet,
        "features": [
            {"type": "Feature", "geometry": geometry, "properties": properties}
            for geometry, properties in features
        ],
    }
    stream.write(json.dumps(collection, ensure_ascii=False, indent=1).encode() + b"\n")


def _cell(value: str | float) -> str:
    return spreadsheets.plain(value) if isinstance(value, str) else repr(value)
