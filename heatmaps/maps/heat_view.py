"""Draws the default view of a map's heat, as `static/hazemap/density.js` and `heat_picture.js` do."""

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import ImageColor

from heatmaps.maps import palette
from heatmaps.maps.heat import usual_width
from heatmaps.maps.image import mercator_latitudes
from heatmaps.maps.surface import Floats, PointLattice, smooth
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import RATE
from mechanisms.results.squares import squares_of
from mechanisms.results.summands import summands_of
from mechanisms.space.grid import Region

PIXELS: Final = 256  # of the surface, a side
OPACITY: Final = 0.9
_WIDEST_SPAN: Final = 1000  # greatest to least density with a colour of its own
_TAIL: Final = 0.02  # of the people shown, beyond each edge of what a focus holds before it is widened
_NARROWEST: Final = PIXELS // 8
_FAINTEST: Final = 0.25  # opacity of what is just told from zero


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeatView:
    """Holds arrays of shape (`PIXELS`, `PIXELS`), row 0 north, rows evenly spread on a Mercator map."""

    densities: Floats = field(repr=False)  # people per km²
    ratios: Floats = field(repr=False)  # value over error
    least: float  # value over error from which on something is shown
    width_m: int  # of the Gaussian

    @property
    def span(self) -> tuple[float, float] | None:
        """Returns the least and the greatest density with a colour, people per km²; None where nothing is
        shown."""
        densities = self.densities[self.ratios >= self.least]
        if not densities.size or not densities.max() > 0:
            return None
        return max(float(densities.min()), float(densities.max()) / _WIDEST_SPAN), float(densities.max())

    def focus(self, region: Region) -> Region:
        """Returns the part of the region where most of what is shown lies, with its surroundings."""
        if self.span is None:
            return region
        densities = np.where(self.ratios >= self.least, self.densities, 0.0)
        left, right = _middle(densities.sum(axis=0))
        top, bottom = _middle(densities.sum(axis=1))
        across, latitudes = (region.east - region.west) / PIXELS, mercator_latitudes(region, PIXELS).tolist()
        west, east = region.west + left * across, region.west + right * across
        return Region(west, latitudes[bottom - 1], east, latitudes[top])

    def pixels(self, *, dark: bool) -> NDArray[np.uint8]:
        """Returns (`PIXELS`, `PIXELS`, 4) RGBA: colours by the logarithm of density, fading where it is less
        sure."""
        rgba = np.zeros((*self.densities.shape, 4), np.uint8)
        if self.span is None:
            return rgba
        low, high = self.span
        is_visible = self.ratios >= self.least
        at = np.log(self.densities[is_visible] / low) / math.log(high / low) if high > low else np.ones(1)
        rgba[is_visible, :3] = ramp(dark=dark)[np.floor(np.clip(at, 0, 1) * 255 + 0.5).astype(np.int64)]
        rgba[is_visible, 3] = np.rint(255 * _faded(self.ratios[is_visible], self.least))
        return rgba


def heat_view(heatmap: Heatmap, region: Region) -> HeatView | None:
    """Returns the heat of a released map at its usual width; None where the map has none."""
    summands = summands_of(heatmap)
    if summands is None:
        return None
    width = usual_width(summands, region)
    latitudes = mercator_latitudes(region, PIXELS)
    points = PointLattice(
        columns=(np.arange(PIXELS) + 0.5) / PIXELS,
        rows=(region.north - latitudes) / (region.north - region.south),
        widths=(width / region.width_m, width / region.height_m),
    )
    surface = smooth(squares_of(summands), points)
    return HeatView(
        densities=surface.values * _densities_of_one(latitudes, region)[:, np.newaxis],
        ratios=surface.ratios,
        least=surface.threshold(float(RATE)),
        width_m=width,
    )


def ramp(*, dark: bool) -> NDArray[np.uint8]:
    """Returns (256, 3) RGB from few to many people; on dark ground more is lighter."""
    colours = next(iter(palette.RAMPS.values()))
    stops = np.array([ImageColor.getrgb(colour) for colour in (colours[::-1] if dark else colours)])
    at = np.linspace(0, len(stops) - 1, 256)
    channels = [np.interp(at, np.arange(len(stops)), channel) for channel in stops.T]
    return np.floor(np.stack(channels, axis=1) + 0.5).astype(np.uint8)


def _densities_of_one(latitudes: Floats, region: Region) -> Floats:
    """Returns people per km² of one person spread over the region: parallels are shorter farther from the
    equator."""
    middle = math.cos(math.radians((region.north + region.south) / 2))
    return np.asarray(1e6 / (region.width_m * region.height_m) * middle / np.cos(np.radians(latitudes)))


def _middle(amounts: Floats) -> tuple[int, int]:
    """Returns the part of an axis that holds most of these, and around it half as much to each side again."""
    part = np.cumsum(amounts) / amounts.sum()
    low, high = np.searchsorted(part, (_TAIL, 1 - _TAIL)).tolist()
    extent = max(high + 1 - low, _NARROWEST)
    middle = (low + high + 1) / 2
    return max(round(middle - extent), 0), min(round(middle + extent), len(amounts))


def _faded(ratios: Floats, least: float) -> Floats:
    """Returns opacities from faint where a value is just told from zero to full where it is twice as sure."""
    part = np.minimum((ratios - least) / least, 1)
    return np.asarray(_FAINTEST + (1 - _FAINTEST) * part * part * (3 - 2 * part))
