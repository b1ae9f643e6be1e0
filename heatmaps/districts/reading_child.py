"""Reads a district file in a child: bytes of somebody come in, names and polygons go out."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from heatmaps.districts import geojson
from mechanisms.check import ParameterError


def main() -> None:
    """Reads a file that somebody sent, in a child.

    Input: a line with the descriptor and the property of names, the file. Output, into the descriptor: a
    line with what is in it, or with the refusal; the packed file.
    """
    request = json.loads(sys.stdin.buffer.readline())
    with os.fdopen(request["descriptor"], "wb") as stream:
        try:
            areas = geojson.read(sys.stdin.buffer.read(), name_property=request["name_property"])
        except ParameterError as error:
            write_line(refusal(error), stream)
            return
        areas = geojson.merged_by_name(areas)
        write_line({"areas": len(areas), "corners": sum(area.corners for area in areas)}, stream)
        stream.write(geojson.packed(geojson.to_geojson(areas)))


def refusal(error: ParameterError) -> dict[str, Any]:
    """Returns a refusal as `heatmaps.districts.children` raises it again."""
    return {"refused": [error.parameter, error.value.removeprefix("'").removesuffix("'"), error.allowed]}


def write_line(facts: Mapping[str, object], stream: BinaryIO) -> None:
    """Writes one line of JSON."""
    stream.write(json.dumps(facts).encode() + b"\n")
