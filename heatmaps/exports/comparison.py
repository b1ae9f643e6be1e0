"""Makes the frame of two released maps that are compared; made once, as files of a release are."""

import hashlib
import json
from dataclasses import asdict
from typing import BinaryIO, Final

from heatmaps.exports import file_cache
from heatmaps.exports.release_files import heat_of
from heatmaps.exports.version import version
from heatmaps.maps.comparison import comparison_parts
from heatmaps.maps.document import MapParts
from heatmaps.models import Release
from heatmaps.releases.comparison import overlap_of
from heatmaps.releases.lifecycle import facts_of_result
from heatmaps.wording.comparison import names
from mechanisms.space.grid import Region

_SECONDS: Final = 20.0  # for which a request waits for another one that makes the same frame


def comparison_of(first: Release, second: Release) -> MapParts | None:
    """Returns two published maps as `maps.comparison.comparison_document` takes them.

    None where they share no ground, or one states no errors. Errors: Busy, NotRendered.
    """
    overlap = overlap_of(first, second)
    if overlap is None:
        return None
    titles = names(first, second)
    about = [version(), *(facts_of_result(release)[0] for release in (first, second)), list(overlap), titles]
    key = hashlib.sha256(json.dumps(["comparison", *about]).encode()).hexdigest()

    def make(stream: BinaryIO) -> None:
        parts = _parts(first, second, overlap, titles)
        stream.write(json.dumps(None if parts is None else asdict(parts)).encode())

    with file_cache.opened(key, make, seconds=_SECONDS) as stream:
        content = json.load(stream)
    return None if content is None else MapParts.from_json(content)


def _parts(first: Release, second: Release, overlap: Region, titles: tuple[str, str]) -> MapParts | None:
    maps = [heat for heat in map(heat_of, (first, second)) if heat is not None]
    return comparison_parts(maps, overlap, titles) if len(maps) == 2 else None
