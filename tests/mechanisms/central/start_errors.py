"""Measures what stated errors hold where a start is right, moved, mirrored, chained or aimed.

`python -m tests.mechanisms.central.start_errors --maps 300` prints the table: of the intervals of measured
rectangles, which are stated, and of four rules for sums of districts that cut through rectangles, none of
which is. Needs HAZEMAP_TEST_DATA.
"""

import argparse
import sys
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import chain

import numpy as np
from scipy.sparse import csr_array

from mechanisms.central.adaptive.guided_raster import LEAST_FIT, rasterized
from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.central.adaptive.tree_posterior import posterior
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.guide import SIDE, Guide
from mechanisms.records.aggregation import masses
from mechanisms.space.grid import FINEST_LEVEL, morton_decode, morton_encode
from tests.mechanisms.central.test_coverage import CITIES, place
from tests.mechanisms.examples import SEED

PERSONS = 300
LEVEL = SIDE.bit_length() - 1
PLACES = (*CITIES, "made up")
# Of all people a part stands in a block: in one place before, in another one now.
MOVED = {"moved, 5 %": 0.05, "moved, 15 %": 0.15, "moved, 50 %": 0.5}
STARTS = (
    "right",
    *MOVED,
    "mirrored, blocks of 8",
    "mirrored, blocks of 16",
    "aimed",
    "chained",
    "another city",
)
SCALES = (100, 300, 1000)  # people times epsilon
# Of sums that cut through rectangles: as the guide fills them, which was stated once; as if all people of one
# stood anywhere in it; as far off as they can be; from nobody to all that it holds, half of it in the middle.
RULES = ("guide's share", "area", "worst case", "0 to all")
_FEW = 5  # people in a district that is judged by itself
_X, _Y = morton_decode(np.arange(SIDE**2), LEVEL)


def blocks(width, height):
    return [box(x, y, width, height) for y in range(0, SIDE, height) for x in range(0, SIDE, width)]


def box(x, y, width, height):
    """(cells,) of the grid, in Morton order."""
    return (x <= _X) & (x + width > _X) & (y <= _Y) & (y + height > _Y)


DISTRICTS = [*blocks(8, 8), *blocks(5, 6)]  # whatever is drawn


def rows(start, scales, where, maps):
    """{name: of each map (held, of how many, sum of half-widths)}."""
    tally = defaultdict(list)
    for number in range(maps):
        random = np.random.default_rng([SEED, number])
        plain = Adaptive(
            relation=Relation.ADD_REMOVE,
            epsilon=Fraction(scales, PERSONS),
            resolution=SIDE,
            expected_persons=PERSONS,
        )
        guide, truth, wrong = beginning(start, plain, where, random)
        districts = np.array([*any_boxes(random), *DISTRICTS, *wrong])
        measure(replace(plain, guide=guide), truth, districts, len(wrong), tally, seed=number)
    return dict(tally)


def measure(mechanism, truth, districts, wrong, tally, *, seed):
    """wrong: so many of the districts, the last ones, are what the start is wrong about."""
    people = np.zeros(SIDE**2)
    people[truth.cells] = truth.masses / truth.unit
    rounds = mechanism.rounds
    parts, yardstick = rounds.measure(truth, SeededSource(SEED + seed)), rounds.yardstick_persons
    tree = parts[0].cells.tree
    beliefs = posterior(rounds.measured(parts), scale_persons=yardstick, is_raised=True)
    boxes = tree.rectangles(beliefs.nodes.depths, beliefs.nodes.codes)
    squares = rasterized(tree, beliefs.nodes.depths, boxes, is_even=tree.fit(boxes, beliefs.mean) < LEAST_FIT)
    mean, deviation = beliefs.mean * yardstick, beliefs.deviation * yardstick
    counts = 4 ** (LEVEL - squares.levels.astype(int))
    square = np.repeat(np.arange(counts.size), counts)
    leaf = squares.leaves[square]
    there = np.bincount(leaf, people)
    held = (beliefs.spread.low * yardstick <= there) & (there <= beliefs.spread.high * yardstick)
    half = (beliefs.spread.high - beliefs.spread.low) * yardstick / 2
    add(tally, "rectangles", held, half)
    add(tally, f"rectangles with {_FEW} people", held[there >= _FEW], half[there >= _FEW])

    area = summed(districts, leaf, 1 / np.bincount(leaf)[leaf])
    part = summed(districts, leaf, squares.shares[square] / counts[square])
    is_cut = (area > 0) & (area < 1 - 1e-9)
    inside = summed(districts, square, 1 / counts[square])
    own = (deviation[squares.leaves] ** 2 + 0.07 * mean[squares.leaves] ** 2 * (1 - squares.shares)) * (
        squares.shares
    )
    persons = mean[squares.leaves] * squares.shares
    whole, found = deviation**2, part @ mean
    middle = (area >= 1 - 1e-9) + is_cut / 2
    answers = {
        "guide's share": (found, inside**2 @ own + (inside * (1 - inside)) @ (persons**2 + persons)),
        "area": (
            found,
            part**2 @ whole + (area * (1 - part) ** 2 + (1 - area) * part**2) @ (mean**2 + mean),
        ),
        "worst case": (
            found,
            part**2 @ whole + (is_cut * np.maximum(part, 1 - part) / 2) ** 2 @ mean**2,
        ),
        "0 to all": (middle @ mean, middle**2 @ whole + (is_cut / 4) @ mean**2),
    }
    true = districts @ people
    for rule, (found, variance) in answers.items():
        half = 2 * np.sqrt(variance)
        held = abs(found - true) <= half
        add(tally, f"{rule}: districts", held, half)
        add(tally, f"{rule}: with {_FEW} people", held[true >= _FEW], half[true >= _FEW])
        if wrong:
            add(tally, f"{rule}: where it is wrong", held[-wrong:], half[-wrong:])


def summed(districts, group, weights):
    """(districts, groups) what each holds of each."""
    of_cells = csr_array((weights, (group, np.arange(group.size))))
    return (of_cells @ districts.T.astype(float)).T


def add(tally, name, held, half):
    tally[name].append((held.sum(), held.size, half.sum()))


def rate_of(tally):
    """Which part is held, and its standard error: what is of one map shares its noise."""
    held, count, _ = np.array(tally).T
    rate = held.sum() / max(count.sum(), 1)
    return rate, np.hypot.reduce(held - rate * count) / max(count.sum(), 1)


def half_width(tally):
    """The mean."""
    _, count, half = np.sum(tally, axis=0)
    return half / max(count, 1)


def any_boxes(random, count=60):
    for _ in range(count):
        width, height = np.minimum(2 ** random.uniform(1, LEVEL, 2), SIDE).astype(int)
        yield box(random.integers(0, SIDE + 1 - width), random.integers(0, SIDE + 1 - height), width, height)


def beginning(start, plain, where, random):
    """(guide, masses now, districts that the start is wrong about)."""
    now, others = people_of(where, random), people_of(where, random)
    wrong = []
    if start in MOVED:
        others, now, wrong = moved(now, MOVED[start], random)
    elif start == "another city":
        others = people_of(PLACES[PLACES.index(where) - 1], random)
    truth, seed = counted(now, plain.unit), int(random.integers(2**30))
    if start == "aimed":
        shown, *wrong = aimed(truth, random)
        return Guide.of_values(shown), truth, wrong
    before = plain.release(counted(others, plain.unit), SeededSource(seed))
    guide = Guide.of_map(before)
    if start == "chained":
        chained = replace(plain, guide=guide)
        guide = Guide.of_map(chained.release(counted(others, plain.unit), SeededSource(seed + 1)))
    if start.startswith("mirrored"):
        side = int(start.rpartition(" ")[2])
        tiles = guide.shares.reshape(SIDE // side, side, SIDE // side, side)
        guide = Guide(shares=tiles[:, ::-1, :, ::-1].ravel().copy())
    return guide, truth, wrong


def people_of(where, random):
    """(persons, cells of the grid), a row a check-in."""
    if where == "made up":
        cells = np.random.default_rng(int(random.integers(3))).choice(SIDE**2, 25, replace=False)
        return np.arange(PERSONS), random.choice(cells, PERSONS, p=np.arange(1, 26) / 325)
    everybody = random.permutation(place(where).persons)[:PERSONS]
    persons, cells = place(where).records(np.sort(everybody))
    return persons, cells >> 2 * (FINEST_LEVEL - LEVEL)


def counted(people, unit):
    persons, cells = people
    return masses(persons=persons, cells=cells << 2 * (FINEST_LEVEL - LEVEL), level=LEVEL, unit=unit)


def moved(people, part, random):
    """Before and now, and both blocks: some stand 1 to 16 cells farther on, in 1 to 16 cells a side."""
    persons, cells = people
    everybody = np.unique(persons)
    chosen = random.permutation(everybody)[: round(part * everybody.size)]
    side, far = random.choice([1, 2, 4, 8, 16], 2).tolist()
    west, south = (int(random.integers(0, SIDE + 1 - side - by)) for by in (far, 0))
    stay = ~np.isin(persons, chosen)
    across, up = random.integers(0, side, (2, chosen.size))
    return (
        *(
            (
                np.r_[persons[stay], chosen],
                np.r_[cells[stay], morton_encode(west + by + across, south + up, LEVEL)],
            )
            for by in (0, far)
        ),
        [box(west + by, south, side, side) for by in (0, far)],
    )


def aimed(truth, random):
    """(64, 64) the right density, but for the densest block, which is shown beside it; and that block."""
    side = int(random.choice([4, 8]))
    shown = np.zeros((SIDE, SIDE))
    x, y = morton_decode(truth.cells, LEVEL)
    shown[SIDE - 1 - y, x] = truth.masses / truth.unit
    sums = shown.reshape(SIDE // side, side, SIDE // side, side).sum(axis=(1, 3))
    row, column = (side * at for at in np.unravel_index(sums.argmax(), sums.shape))
    beside = column + side if column + side < SIDE else column - side
    shown[row : row + side, beside : beside + side] += shown[row : row + side, column : column + side]
    shown[row : row + side, column : column + side] = 0
    return shown, box(column, SIDE - row - side, side, side)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--maps", type=int, default=300, help="of each row")
    maps = parser.parse_args().maps
    sys.stdout.write("start,n·epsilon,place,what,held,standard error,maps,half-width ratio\n")
    for scales in SCALES:
        for start in STARTS:
            of_places = {where: rows(start, scales, where, -(-maps // len(PLACES))) for where in PLACES}
            names = next(iter(of_places.values()))
            of_places["all"] = {name: [*chain(*(one[name] for one in of_places.values()))] for name in names}
            for where, tally in of_places.items():
                for name, one in tally.items():
                    rate, error = rate_of(one)
                    ratio = half_width(one) / (half_width(tally[usual_of(name)]) or 1)
                    told = (
                        f'"{start}",{scales},{where},"{name}",{rate:.3f},{error:.4f},{len(one)},{ratio:.2f}'
                    )
                    sys.stdout.write(told + "\n")
            sys.stdout.flush()


def usual_of(name):
    """What its half-widths are compared with."""
    rule, colon, districts = name.partition(":")
    return f"{RULES[0]}:{districts}" if colon else rule


if __name__ == "__main__":
    main()
