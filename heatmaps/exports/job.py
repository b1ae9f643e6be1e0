"""Describes as JSON what a file of a release is made from: its cache key and all a child is told."""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any, BinaryIO, Final, Self, cast

import yaml
from django.utils.module_loading import import_string

from heatmaps.data_slice import DataSlice
from heatmaps.exports import Released, format_of, release_sheet
from heatmaps.exports.content import HEAT
from heatmaps.maps.looks import LIGHT, LOOKS
from heatmaps.result_kinds import RESULT_KINDS
from mechanisms.catalogue.entries import Kind
from mechanisms.guarantee import Guarantee
from mechanisms.results.serialization import Result, result_from_bytes
from mechanisms.space.grid import Region

ZIP: Final = ".zip"
SHEET: Final = "json"
SHEETS: Final = {SHEET: "application/json", "yaml": "application/yaml"}
# For our own pages: a map before it becomes a document, the numbers beside it, and what its heat is made of.
PARTS, TABLE, SURFACE = "parts", "table", "surface"
# Small pictures, by the names that addresses have for them.
THUMBNAIL, OG_IMAGE = "thumbnail", "og-image"
# What tiles are cut from, and what features are read from one by one.
PICTURE, FEATURES = "picture", "features"
_WRITERS: Final = {
    THUMBNAIL: "heatmaps.exports.previews.write_thumbnail",
    OG_IMAGE: "heatmaps.exports.previews.write_og_image",
    PICTURE: "heatmaps.exports.tile_source.write_tile_picture",
    FEATURES: "heatmaps.exports.features.write_lines",
}
_FASTER: Final = 1 << 18  # cells from which a ZIP is packed for speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Holds everything but the result's own bytes: released and public values only."""

    # A format's suffix without its dot, with ".zip" behind it or not; a sheet; or one of the names above.
    wanted: str
    kind: Kind
    stem: str  # how the names of files begin
    result_sha256: str
    title: str
    mechanism: str
    parameters: Mapping[str, object]
    guarantee: Mapping[str, Any]
    region: list[float]
    whole_region: list[float]
    released: str  # a day
    radius_m: int | None
    data_slice: list[Any]  # as `DataSlice.stored` takes it
    statements: list[str] = field(default_factory=list)
    users: str = ""  # how those of the dataset are told apart
    mechanism_version: int = 1
    guide: dict[str, Any] | None = None  # the public map that it began from
    collection: dict[str, Any] | None = None  # of a round, as `heatmaps.wording.collection` tells it
    together: dict[str, Any] | None = None  # guarantee with all maps of its data that it goes back to
    look: str = LIGHT.name  # of pictures
    layer: str = HEAT  # of pictures

    def key(self, version: str) -> str:
        """Returns the SHA-256 of the job. version: of the code that does it."""
        return hashlib.sha256(f"{version} {self.to_json()}".encode()).hexdigest()

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls(**json.loads(text))

    def write(self, content: bytes, stream: BinaryIO) -> None:
        """Writes the file. content: the stored result. Errors: ValueError, `ParameterError`."""
        result, region = result_from_bytes(content), Region(*self.region)
        kind = RESULT_KINDS[self.kind]
        if self.wanted == PARTS:
            stream.write(_json(asdict(kind.leaflet_parts(result, region))))
        elif self.wanted == TABLE:
            stream.write(_json(kind.tabulated(result, region)))
        elif self.wanted == SURFACE:
            stream.write(json.dumps({"heat": kind.heat_of(result, region)}).encode())
        elif self.wanted in SHEETS:
            stream.write(_sheet_text(self._sheet(result), self.wanted))
        elif self.wanted in _WRITERS:
            import_string(_WRITERS[self.wanted])(self._released(result, region), stream)
        else:
            self._write_format(result, region, stream)

    def _write_format(self, result: Result, region: Region, stream: BinaryIO) -> None:
        file_format = format_of("." + self.wanted.removesuffix(ZIP), self.kind)
        released = self._released(result, region, values=file_format.values)
        if not self.wanted.endswith(ZIP):
            file_format.write(released, stream)
            return
        level = 1 if (result.resolution or 0) ** 2 >= _FASTER else 6
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
            with archive.open(self._member(file_format.suffix), "w", force_zip64=True) as member:
                file_format.write(released, cast(BinaryIO, member))
            archive.writestr(self._member(".json"), _json(released.sheet))

    def _released(self, result: Result, region: Region, *, values: str = "") -> Released:
        sheet = self._sheet(result, values=values)
        return Released(result=result, region=region, sheet=sheet, look=LOOKS[self.look], layer=self.layer)

    def _sheet(self, result: Result, *, values: str = "") -> dict[str, object]:
        return release_sheet(
            title=self.title,
            result=result,
            mechanism=self.mechanism,
            parameters=self.parameters,
            guarantee=Guarantee.from_json(self.guarantee),
            region=Region(*self.region),
            released=date.fromisoformat(self.released),
            radius_m=None if self.radius_m is None else Fraction(self.radius_m),
            data_slice=DataSlice.stored(*self.data_slice),
            whole_region=Region(*self.whole_region),
            statements=self.statements,
            users=self.users,
            mechanism_version=self.mechanism_version,
            guide=self.guide,
            collection=self.collection,
            together=None if self.together is None else Guarantee.from_json(self.together),
            values=values,
        )

    def _member(self, suffix: str) -> zipfile.ZipInfo:
        """Returns a member of a ZIP, dated by the day of the release, not by the clock."""
        day = date.fromisoformat(self.released)
        member = zipfile.ZipInfo(f"{self.stem}{suffix}", date_time=(day.year, day.month, day.day, 0, 0, 0))
        member.compress_type = zipfile.ZIP_DEFLATED
        return member


def _sheet_text(sheet: Mapping[str, object], suffix: str) -> bytes:
    if suffix == SHEET:
        return _json(sheet)
    return yaml.safe_dump(sheet, sort_keys=False, allow_unicode=True).encode()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
