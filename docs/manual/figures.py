"""Computes and draws the pictures of `docs/explanation/epsilon.md`: `python -m docs.manual.figures`.

Maps and guesses come from the product's own `laplace`, errors from what `adaptive` predicts. Everybody in
them is made up, and the noise is repeatable: nothing here is released.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from docs.manual.drawing import LOOKS, Axes, Look, Picture
from heatmaps.wording.guarantee import right_guesses
from mechanisms.catalogue import registry
from mechanisms.central.grid_laplace.laplace import Laplace
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.expected_error import ErrorForecast
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import morton_decode, morton_encode

FOLDER: Final = Path(__file__).resolve().parents[1] / "pictures"
WIDTH: Final = 400  # of a picture: its words can be read on a telephone
SIDE: Final = 16  # squares
ADA: Final = (13, 2)  # column and row of the square where she alone is
SHOWN: Final = {"0.1": 28, "1": 46, "5": 30}  # ε of the maps, with the seed of their noise
GUESSED: Final = ("0.1", "0.5", "1", "2", "3", "4", "5")  # ε of the guesses that are counted
TRIES: Final = 64  # a side of the grid on which they are counted
CROWDS: Final = (200, 2_000, 20_000)
EPSILONS: Final = ("0.1", "0.2", "0.5", "1", "2", "5", "10")
LEAST: Final = (0.5, 1.5, 3, 6, 12, 24, 48)  # people in a square, for each colour of a map
LIMIT, MAPS = Fraction(2), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 2))
Grid = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """How often a watcher is right about one person: what ε allows at most, and counted."""

    epsilon: Fraction
    bound: float
    counted: float


def town() -> Grid:
    """`(16, 16)` people by row and column: three quarters, and nobody where Ada lives."""
    random = np.random.default_rng(7)
    middles = np.array([(4.5, 10.5), (9.0, 6.5), (6.0, 5.0)])
    spread = np.repeat([1.4, 1.2, 0.8], [160, 110, 50])
    places = np.repeat(middles, [160, 110, 50], axis=0) + random.normal(size=(320, 2)) * spread[:, np.newaxis]
    columns, rows = np.clip(places.astype(int), 0, SIDE - 1).T
    people = np.zeros((SIDE, SIDE))
    np.add.at(people, (rows, columns), 1)
    people[ADA[1], ADA[0]] = 0
    return people


def with_ada(people: Grid) -> Grid:
    joined = people.copy()
    joined[ADA[1], ADA[0]] += 1
    return joined


def released(people: Grid, epsilon: Fraction, seed: int) -> Grid:
    """The map that `laplace` draws of them."""
    mechanism = _laplace(epsilon, SIDE)
    heatmap = mechanism.release(_masses(people, mechanism.unit), SeededSource(seed))
    columns, rows = morton_decode(heatmap.prefixes, heatmap.level)
    drawn = np.zeros_like(people)
    drawn[SIDE - 1 - rows, columns] = heatmap.values
    return drawn


@cache
def guesses(epsilon: Fraction) -> Guesses:
    """A watcher who knows everything but whether Ada is there says yes where her square shows half a person.

    No other rule is right more often: the noise is symmetric, and she adds one person. The watcher sees even
    what `laplace` measured, before values below 0 are cut. Squares have noise of their own, so each square of
    a large grid is one try: with somebody alone in each, and with nobody.
    """
    mechanism, rng = _laplace(epsilon, TRIES), SeededSource(11)
    half = mechanism.unit // 2
    there = mechanism.measure(_masses(np.ones((TRIES, TRIES)), mechanism.unit), rng)
    away = mechanism.measure(_masses(np.zeros((TRIES, TRIES)), mechanism.unit), rng)
    right = int((there >= half).sum() + (away < half).sum())
    return Guesses(epsilon=epsilon, bound=most_right(epsilon), counted=right / (2 * TRIES**2))


def most_right(epsilon: Fraction) -> float:
    """exp(ε) / (1 + exp(ε)): how often any watcher who began with a coin can be right."""
    return 1 / (1 + math.exp(-float(epsilon)))


def forecast(persons: int, epsilon: Fraction) -> ErrorForecast:
    """What `adaptive` says beforehand of its error, as a part of the region's side."""
    target = Target(relation=Relation.ADD_REMOVE, epsilon=epsilon, expected_persons=persons)
    error = registry.build("adaptive", target=target, resolution=256, parameters={}).expected_error(
        persons=persons
    )
    if not isinstance(error, ErrorForecast):
        raise TypeError("adaptive forecasts no error here")
    return error


def worlds(look: Look) -> str:
    """Maps of two towns that differ in Ada alone, at three ε, beside the towns themselves."""
    picture = Picture(
        width=WIDTH,
        height=270,
        look=look,
        title="Two towns that differ in one person, Ada, and the maps of both at ε = 0.1, 1 and 5",
    )
    without = town()
    side, left, top = 4.8, 60.0, 28.0
    step = SIDE * side + 7
    for column, words in enumerate(("the truth", *(f"ε = {text}" for text in SHOWN))):
        picture.text((left + column * step + SIDE * side / 2, 18), words, anchor="middle", bold=True)
    for row, (words, people) in enumerate((("without", without), ("with", with_ada(without)))):
        y = top + row * step
        picture.text((left - 6, y + 36), words, size=12, anchor="end", bold=True)
        picture.text((left - 6, y + 52), "Ada", size=12, anchor="end", bold=True)
        maps = [people, *(released(people, Fraction(text), seed + row) for text, seed in SHOWN.items())]
        for column, shown in enumerate(maps):
            _panel(picture, (left + column * step, y), shown, side=side)
    _legend(picture, (left, top + 2 * step + 20))
    return picture.svg()


def odds(look: Look) -> str:
    """How often a watcher is right, against ε."""
    picture = Picture(
        width=WIDTH, height=280, look=look, title="How often a watcher is right about Ada, by ε"
    )
    axes = Axes(corner=(48, 226), size=(276, 190), x=(0, 5), y=(0.5, 1))
    axes.draw(
        picture,
        across=[(at, str(at)) for at in range(6)],
        up=[(at / 100, f"{at} %") for at in range(50, 101, 10)],
    )
    picture.text((186, 270), "ε", anchor="middle", colour=look.soft)
    picture.text((4, 18), "right guesses", colour=look.soft)
    curve = [axes.at(at / 20, most_right(Fraction(at, 20))) for at in range(101)]
    picture.line(curve, colour=look.lines[0], width=3)
    picture.text((334, curve[-1][1] + 5), "at most", colour=look.lines[0], bold=True)
    found = [guesses(Fraction(text)) for text in GUESSED]
    for one in found:
        picture.dot(axes.at(float(one.epsilon), one.counted), radius=4, fill=look.lines[1])
    last = axes.at(5, found[-1].counted)
    picture.text((334, last[1] + 12), "counted", colour=look.lines[1], bold=True)
    picture.text((axes.at(0.3, 0.5)[0], 220), "a coin", size=12, colour=look.soft)
    return picture.svg()


def errors(look: Look) -> str:
    """What an ε buys, for small and large crowds."""
    picture = Picture(
        width=WIDTH, height=290, look=look, title="Expected error of a map of 10 km, by ε and people"
    )
    axes = Axes(corner=(52, 236), size=(240, 200), x=(0.1, 10), y=(0.0003, 0.3), logarithmic=(True, True))
    axes.draw(
        picture,
        across=[(float(text), text) for text in EPSILONS],
        up=[(0.0003, "3 m"), (0.001, "10 m"), (0.01, "100 m"), (0.1, "1 km")],
    )
    picture.text((172, 280), "ε", anchor="middle", colour=look.soft)
    picture.text((4, 18), "error in a region of 10 km", colour=look.soft)
    for persons, colour in zip(CROWDS, look.lines, strict=True):
        told = [(float(text), forecast(persons, Fraction(text)).emd_median) for text in EPSILONS]
        points = [axes.at(*each) for each in told]
        picture.line(points, colour=colour, width=3)
        for point in points:
            picture.dot(point, radius=4, fill=colour)
        picture.text((302, points[-1][1] + 4), f"{persons:,}", size=12, colour=colour, bold=True)
        picture.text((302, points[-1][1] + 18), "people", size=12, colour=colour)
    return picture.svg()


def total(look: Look) -> str:
    """A budget of which three maps took their parts."""
    spent = sum(MAPS, Fraction())
    picture = Picture(
        width=WIDTH,
        height=112,
        look=look,
        title=f"A limit of ε = {_text(LIMIT)}, of which three maps took {_text(spent)}",
    )
    left, top, long = 4.0, 30.0, 392.0
    picture.text((left, 18), f"limit ε = {_text(LIMIT)}", bold=True)
    picture.box((left, top), (long, 44), fill=look.grid, round_by=6)
    at = left
    for epsilon, colour in zip(MAPS, look.lines, strict=True):
        wide = long * float(epsilon / LIMIT)
        picture.box((at, top), (wide - 2, 44), fill=colour, round_by=6)
        picture.text((at + wide / 2, top + 27), _text(epsilon), anchor="middle", colour=look.paper)
        at += wide
    picture.text((at + (left + long - at) / 2, top + 27), f"left: {_text(LIMIT - spent)}", anchor="middle")
    right = right_guesses(spent, Fraction(0))
    words = f"three maps: ε = {_text(spent)}, at most {right} % right guesses"
    picture.text((left, top + 68), words, colour=look.soft)
    return picture.svg()


DRAWN: Final[dict[str, Callable[[Look], str]]] = {
    "worlds": worlds,
    "odds": odds,
    "errors": errors,
    "total": total,
}


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    return {
        f"epsilon-{name}-{look}.svg": draw(colours)
        for name, draw in DRAWN.items()
        for look, colours in LOOKS.items()
    }


def _laplace(epsilon: Fraction, side: int) -> Laplace:
    target = Target(relation=Relation.ADD_REMOVE, epsilon=epsilon)
    built = registry.build("laplace", target=target, resolution=side, parameters={})
    if not isinstance(built, Laplace):
        raise TypeError("laplace is of another class")
    return built


def _masses(people: Grid, unit: int) -> MassMap:
    """Everybody at one place: a mass of 1 each."""
    level = people.shape[0].bit_length() - 1
    rows, columns = np.nonzero(people)
    cells = morton_encode(columns, people.shape[0] - 1 - rows, level)
    order = np.argsort(cells)
    masses = (people[rows, columns].astype(np.int64) * unit)[order]
    return MassMap(level=level, unit=unit, cells=cells[order], masses=masses)


def _panel(picture: Picture, at: tuple[float, float], people: Grid, *, side: float) -> None:
    picture.box(at, (SIDE * side, SIDE * side), fill="none", stroke=picture.look.grid)
    classes = np.searchsorted(LEAST, people, side="right")
    for number, colour in enumerate(picture.look.heat, 1):
        rows, columns = np.nonzero(classes == number)
        picture.squares(at, zip(columns.tolist(), rows.tolist(), strict=True), side=side, fill=colour)
    middle = (at[0] + (ADA[0] + 0.5) * side, at[1] + (ADA[1] + 0.5) * side)
    picture.dot(middle, radius=6, fill="none", stroke=picture.look.mark)


def _legend(picture: Picture, at: tuple[float, float]) -> None:
    picture.text((at[0], at[1]), "people in a square:", size=12, colour=picture.look.soft)
    for number, (least, colour) in enumerate(zip(LEAST, picture.look.heat, strict=True)):
        x, y = at[0] + number * 48, at[1] + 10
        picture.box((x, y), (12, 12), fill=colour)
        picture.text((x + 15, y + 11), f"{least:g}+", size=12, colour=picture.look.soft)


def _text(value: Fraction) -> str:
    return f"{float(value):g}"


def main() -> None:
    for name, content in pictures().items():
        (FOLDER / name).write_text(content)


if __name__ == "__main__":
    main()
