"""Makes a file of street tiles from an OpenStreetMap extract (`manage.py basemap`)."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from heatmaps.management.parsing import PureCommand
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

try:
    from heatmaps.maps.streets.making import make
except ModuleNotFoundError as error:
    _MISSING = error.name or ""
else:
    _MISSING = ""

INSTALL: Final = "`make setup-basemap` installs what it needs (the extra hazemap[basemap])"


class Command(PureCommand):
    help = (
        "Make a file of street tiles (PMTiles) from an OpenStreetMap extract, for HAZEMAP_BASEMAP: streets, "
        "rails, water, parks, buildings and place names of a box."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("file", type=Path, metavar="FILE.osm.pbf", help="an extract of OpenStreetMap")
        add("--bbox", required=True, metavar="W,S,E,N", help="the box, in degrees")
        add(
            "--output",
            type=Path,
            default=Path("city.pmtiles"),
            metavar="FILE.pmtiles",
            help="default city.pmtiles; a file that is there is replaced when the new one is complete",
        )

    def run_on(self, options: dict[str, Any]) -> None:
        region, output, began = Region.parse(options["bbox"]), options["output"], time.monotonic()
        if output.suffix != ".pmtiles":
            raise ParameterError("output", output, "a name that ends in .pmtiles")
        if _MISSING:
            raise CommandError(f"the package {_MISSING} is not installed; {INSTALL}")
        progress = _MapProgress(self.stderr)
        archive = make(options["file"], region, output, read=progress.read, cut=progress.cut)
        self.stdout.write(
            f"{output}: {archive.things:,} streets, buildings, parks and names in {archive.tiles:,} tiles, "
            f"{archive.size_bytes / 1e6:.1f} MB, {time.monotonic() - began:.0f} s. Show it with "
            f"HAZEMAP_BASEMAP={output.absolute()}"
        )


class _MapProgress:
    """A line every half minute."""

    _PAUSE_S = 30.0

    def __init__(self, stream: Any) -> None:
        self._stream, self._next = stream, time.monotonic() + self._PAUSE_S

    def read(self, things: int) -> None:
        self._say(f"{things:,} streets, buildings, parks and names read")

    def cut(self, tiles: int) -> None:
        self._say(f"{tiles:,} tiles made")

    def _say(self, text: str) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._PAUSE_S
            self._stream.write(text)
