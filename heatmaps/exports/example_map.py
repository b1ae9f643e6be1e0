"""Draws an example of the blur to expect: what a mechanism releases of made-up people, never of a dataset."""

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import BinaryIO, Final

from heatmaps.children.turns import turn
from heatmaps.demo.city import CheckIns, City, check_ins
from heatmaps.demo.places import REGION
from heatmaps.exports import file_cache
from heatmaps.exports.heat_image import draw_heat
from heatmaps.exports.map_image import draw_cells
from heatmaps.exports.scene import Scene, fitted, view_of
from heatmaps.exports.version import version
from heatmaps.maps.heat_view import heat_view
from heatmaps.maps.looks import LOOKS
from heatmaps.models import Dataset
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.randomness import RandomSource, SystemSource
from mechanisms.records.aggregation import masses
from mechanisms.results.heatmap import Heatmap

# Each draws a map within some tenths of a second, at the resolutions and of as many people as are drawn here.
MECHANISMS: Final = ("adaptive", "sparse-emd", "dense-emd", "privtree")
_FINEST: Final = 256  # cells a side
_PEOPLE: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
_CHECKINS: Final = 4  # of each, on average
_SEED: Final = 3
_SIZE: Final = (480, 300)  # pixels
_AROUND: Final = 0.06  # of the region, on each side
_DIGITS: Final = 2  # of ε
_SECONDS: Final = 2.0  # for which one that somebody else is making is waited for


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Holds public facts that an example is drawn from."""

    mechanism: str
    relation: Relation
    epsilon: Fraction
    resolution: int
    people: int

    @property
    def key(self) -> str:
        return hashlib.sha256(repr(("example", version(), astuple(self))).encode()).hexdigest()


def example(dataset: Dataset, parameters: Mapping[str, str]) -> Example | None:
    """Returns the example for a question's `mechanism`, `epsilon` and `resolution`; None where there is none.

    ε and the number of people are rounded: few pictures serve all questions.
    """
    resolution = parameters.get("resolution", "")
    if parameters.get("mechanism") not in MECHANISMS or resolution not in {
        str(2**level) for level in range(4, 13)
    }:
        return None
    try:
        epsilon = exact_decimal("epsilon", parameters.get("epsilon", ""), low=Fraction("0.001"), high=20)
    except ParameterError:
        return None
    place = bisect_right(_PEOPLE, dataset.public_persons or 0)
    return Example(
        mechanism=parameters["mechanism"],
        relation=Relation(dataset.relation),
        epsilon=Fraction(f"{float(epsilon):.{_DIGITS}g}"),
        resolution=min(int(resolution), _FINEST),
        people=_PEOPLE[max(place - 1, 0)],
    )


def opened(example: Example, *, look: str) -> BinaryIO:
    """Opens its picture as PNG, at its start; whoever sends it closes it. Errors: Busy, NotRendered."""

    def make(stream: BinaryIO) -> None:
        with turn():
            write(draw_example(example, SystemSource()), stream, look=look)

    return file_cache.opened(_name(example, look), make, seconds=_SECONDS)


def is_kept(example: Example, *, look: str) -> bool:
    """Tells whether its picture was drawn before."""
    return file_cache.size_of(_name(example, look)) is not None


def draw_example(example: Example, rng: RandomSource) -> Heatmap:
    """Returns the mechanism's release of the made-up people."""
    entry = registry.get(example.mechanism)
    target = Target(
        relation=example.relation,
        epsilon=example.epsilon,
        delta=Fraction(0),
        radius_m=None,
        expected_persons=example.people,
    )
    mechanism = entry.calibrated(target, {}, resolution=example.resolution)
    people = _people(example.people)
    level = mechanism.resolution.bit_length() - 1
    cells = REGION.morton(people.lat, people.lon)
    inside = REGION.contains(people.lat, people.lon)
    mass_map = masses(persons=people.persons[inside], cells=cells[inside], level=level, unit=mechanism.unit)
    heatmap: Heatmap = mechanism.release(mass_map, rng)
    return heatmap


def write(heatmap: Heatmap, stream: BinaryIO, *, look: str) -> None:
    """Draws a small picture of a map of the made-up city."""
    view = view_of(REGION, _SIZE, around=_AROUND)
    scene = Scene.of(view, fitted(view, _SIZE), LOOKS[look])
    heat = heat_view(heatmap, REGION)
    if heat is None:
        draw_cells(scene, heatmap, REGION)
    else:
        draw_heat(scene, heat, REGION)
    scene.image.save(stream, "PNG", optimize=True)


def _name(example: Example, look: str) -> str:
    return f"{example.key}-{look}"


@lru_cache(maxsize=len(_PEOPLE))
def _people(number: int) -> CheckIns:
    return check_ins(City(persons=number, checkins=_CHECKINS * number, seed=_SEED))
