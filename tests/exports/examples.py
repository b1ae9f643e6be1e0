"""Maps to write, with every kind of square: coarse, fine, stated and unstated errors, not told from zero."""

import io
from datetime import date
from fractions import Fraction

import numpy as np

from heatmaps.exports import Released, format_of, release_sheet
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import SignificantSquares
from mechanisms.space.grid import Region, morton_encode

OCEAN = Region(-40.0, 20.0, -38.0, 23.0)  # no place names over the cells
NAN = float("nan")
ATTACK = (
    '</title><script>document.title="owned"</script><img src=x onerror="document.title=1">\'"&amp; {{ 7 }}'
)
# {(level, x from the west, y from the south): (value, standard error)}
SQUARES = {
    (1, 0, 0): (40.0, 1.0),
    (3, 7, 7): (20.0, NAN),
    (2, 3, 1): (5.0, 4.0),  # not told apart from an empty square
    (3, 0, 7): (0.5, 0.1),
}


def make_heatmap(squares=SQUARES, level=3, *, deviations=None):
    """Squares of at least two standard errors, or none stated, are told apart from empty ones."""
    told = [at for at, (value, error) in squares.items() if not value < 2 * error]
    return Heatmap(
        significant=SignificantSquares.with_parents(
            np.array([at[0] for at in told], np.int64),
            np.array([int(morton_encode(at[1], at[2], at[0])) for at in told], np.int64),
        ),
        level=level,
        levels=np.array([at[0] for at in squares], np.uint8),
        prefixes=np.array([int(morton_encode(at[1], at[2], at[0])) for at in squares], np.int64),
        values=np.array([value for value, _ in squares.values()], np.float64),
        standard_errors=np.array([error for _, error in squares.values()], np.float64),
        deviations=None if deviations is None else np.array(deviations, np.float64),
    )


def make_released(
    squares=SQUARES, *, level=3, region=OCEAN, title="Fish & ships, Ünïté", values="shares", deviations=None
):
    heatmap = make_heatmap(squares, level, deviations=deviations)
    sheet = release_sheet(
        title=title,
        result=heatmap,
        mechanism="sparse-emd",
        parameters={"width": 20},
        guarantee=Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction("0.5")),
        region=region,
        released=date(2026, 11, 20),
        statements=["A person is there or not."],
        values=values,
    )
    return Released(result=heatmap, region=region, sheet=sheet)


def written(suffix, released):
    stream = io.BytesIO()
    format_of(suffix).write(released, stream)
    return stream.getvalue()
