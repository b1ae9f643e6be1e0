"""Says what a release sheet has of a map of cells."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from heatmaps.numbers import length, share
from heatmaps.places.area_centres import centres_of
from heatmaps.result_kinds.kind import SheetPart
from mechanisms.central.grid_laplace.empty_cells import significant_squares
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import RATE
from mechanisms.space.grid import Region

POST_PROCESSING: Final = (
    "no value below 0: cut, or fitted without",
    "values divided by their sum, so that the map sums to 1",
    (
        "the mass of a region that was not refined spread evenly over its cells, or as the map says that it "
        "started from"
    ),
)
INTERVALS: Final = (
    f"the intervals of squares hold the truth in 95 of 100; standard errors are such that {WITHIN_ERRORS} of "
    "them to either side do"
)
CLASS: Final = f"of the squares drawn as distinguishable from zero on average at most {share(RATE)} are empty"
CLASS_OF_RECTANGLES: Final = (
    f"of the measured rectangles drawn as distinguishable from zero on average at most {share(RATE)} are "
    "empty; where in a rectangle people are is not measured: it is taken from the map that this one started "
    "from"
)
NO_CLASS: Final = (
    "nothing is known about errors of single squares, so none is marked as not distinguishable from zero: "
    "a coloured square may be empty"
)

GUIDE_FITS: Final = "guide_fits"  # on a sheet, where it does not
SET_ASIDE: Final = "The map it started from did not fit these people. It was set aside."


def sheet_part(heatmap: Heatmap, region: Region) -> SheetPart:
    """Returns its grid and what it says of errors; of a map of areas the centres too, the heaviest first."""
    side = heatmap.resolution
    measures = {"resolution": side, "cell_m": [region.width_m / side, region.height_m / side]}
    centres = [asdict(centre) for centre in centres_of(heatmap, region)]
    measurements = heatmap.measurements
    unfitting = {GUIDE_FITS: False} if measurements is not None and measurements.sets_guide_aside else {}
    return SheetPart(
        measures=measures | unfitting | ({"centres": centres} if centres else {}),
        post_processing=POST_PROCESSING,
        errors=_errors(heatmap),
    )


def sheet_facts(sheet: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Returns (title, text) of the grid."""
    return (
        ("Resolution", f"{sheet['resolution']} × {sheet['resolution']} cells"),
        ("One cell", " × ".join(map(length, sheet["cell_m"]))),
    )


def _errors(heatmap: Heatmap) -> list[str]:
    texts = []
    if np.isfinite(heatmap.standard_errors).any() or not math.isnan(heatmap.cut_error):
        texts.append(INTERVALS)
    if significant_squares(heatmap) is None:
        return [*texts, NO_CLASS]
    return [*texts, CLASS_OF_RECTANGLES if heatmap.is_in_rectangles else CLASS]
