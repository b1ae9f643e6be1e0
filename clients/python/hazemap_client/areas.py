"""People in areas of a published map."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from hazemap_client import markup
from hazemap_client.connection import Connection
from hazemap_client.decoding import LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class DistrictFile:
    """A public file of districts that a steward stored."""

    component: ClassVar = "DistrictFileOut"
    id: str
    title: str
    source: str
    licence: str
    areas: int
    links: Mapping[str, str]
    connection: Connection = field(repr=False, compare=False, metadata=LOCAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Twice the standard error to either side holds the truth 19 times in 20."""

    component: ClassVar = "AreaOut"
    area: str
    people: float
    standard_error: float
    share: float
    covered: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Areas:
    """A map added up: in the order of the polygons, without those that do not lie on it."""

    component: ClassVar = "AreasOut"
    areas: tuple[Area, ...]
    is_bound: bool
    outside: int
    connection: Connection = field(repr=False, compare=False, metadata=LOCAL)

    def _repr_html_(self) -> str:
        heads = ("area", "people", "± (19 of 20)", "share", "covered")
        rows = [_line(one) for one in self.areas]
        left_out = f"{self.outside} areas do not lie on the map." if self.outside else ""
        return markup.table(heads, rows) + markup.paragraphs([left_out])


def _line(area: Area) -> tuple[object, ...]:
    numbers = (f"{area.people:,.1f}", f"{2 * area.standard_error:,.1f}")
    return area.area, *numbers, f"{area.share:.1%}", f"{area.covered:.0%}"
