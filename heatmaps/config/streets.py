"""Reads which streets maps show: a file of ours, tiles of another host, or none."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult

from heatmaps.config import web_addresses
from heatmaps.maps.pmtiles import Archive, NotReadable

_ALLOWED: Final = (
    "an address such as https://tiles.example.org/{z}/{x}/{y}.png: https (http for this machine alone), a "
    "host without password or placeholder, and {z}, {x} and {y} once each behind it"
)
_PLACES: Final = ("{z}", "{x}", "{y}")
_REST: Final = re.compile(r"[A-Za-z0-9._~%/?&=+,:@{}-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TileServer:
    """Serves pictures that readers' browsers fetch from another host, which sees where they look."""

    address: str  # with {z}, {x} and {y}
    origin: str  # as a content security policy names it
    host: str
    attribution: str
    public: bool  # also on maps that need no account


def basemap() -> Path | None:
    """Returns the PMTiles file of `HAZEMAP_BASEMAP`. Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_BASEMAP", "")
    if not text:
        return None
    path = Path(text).absolute()
    try:
        Archive.open(path)
    except OSError as error:
        reason = error.strerror or str(error)
    except NotReadable as error:
        reason = f"it {error}"
    else:
        return path
    raise RuntimeError(f"HAZEMAP_BASEMAP must name a PMTiles file that can be read, not {text!r}: {reason}")


def tiles() -> TileServer | None:
    """Reads the tile server of `HAZEMAP_TILES`. Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_TILES", "")
    public = os.environ.get("HAZEMAP_TILES_PUBLIC") or "0"
    if public not in {"0", "1"}:
        raise RuntimeError(f"HAZEMAP_TILES_PUBLIC must be 0 or 1, not {public!r}")
    if not text:
        return None
    parts = _parts(text)
    if parts is None:
        raise RuntimeError(f"HAZEMAP_TILES must be {_ALLOWED}; not {text!r}")
    return TileServer(
        address=text,
        origin=f"{parts.scheme}://{parts.netloc}",
        host=parts.netloc,
        attribution=os.environ.get("HAZEMAP_TILES_ATTRIBUTION") or f"Street tiles: {parts.netloc}",
        public=public == "1",
    )


def _parts(text: str) -> SplitResult | None:
    """Splits an address; None for one that is not allowed."""
    parts = web_addresses.read(text)
    if parts is None:
        return None
    rest = text.removeprefix(f"{parts.scheme}://{parts.netloc}")
    plain = re.sub("|".join(map(re.escape, _PLACES)), "", rest)
    placed = all(rest.count(place) == 1 for place in _PLACES) and not re.search("[{}]", plain)
    return parts if placed and _REST.fullmatch(rest) else None
