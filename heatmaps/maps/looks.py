"""Colours of light and of dark pictures, as `static/hazemap/map.css` has them for pages."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Colours as "#rrggbb"."""

    name: str
    land: str
    water: str
    panel: str  # around a map
    ink: str
    soft: str  # of what is less important
    line: str
    halo: str  # around letters on a map
    mark: str  # of released points

    @property
    def is_dark(self) -> bool:
        return self.name == "dark"


LIGHT: Final = Look(
    name="light",
    land="#f6f4ee",
    water="#cfdfe9",
    panel="#ffffff",
    ink="#1d2530",
    soft="#55606e",
    line="#b9c0c9",
    halo="#ffffff",
    mark="#a3123a",
)
DARK: Final = Look(
    name="dark",
    land="#171b21",
    water="#0c1a26",
    panel="#1a2028",
    ink="#e6e9ee",
    soft="#a4aebb",
    line="#4a5563",
    halo="#0a0d11",
    mark="#ff8fa8",
)
LOOKS: Final = {look.name: look for look in (LIGHT, DARK)}
