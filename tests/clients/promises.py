"""Tables that keep what they promise and tables that lie, for the tests of both clients."""

import math
import random
from fractions import Fraction
from itertools import accumulate, product

from tests.clients.rounds import numbers
from tests.mechanisms.devices.plans import REGION, plan

LOCAL = ("planar-geometric", "geo-local", "optimal", "frequency")
SIZES = {"width_m": 27_000.0, "height_m": 22_000.0}


def honest(names=LOCAL):
    """(encoding, table, loss at the radius, loss anywhere, radius) of plans of the product."""
    for name, radius_m, epsilon in product(names, (700, 6000), (Fraction(5, 2), 8)):
        made = plan(name, radius_m=radius_m, epsilon=epsilon)
        promised = made.per_report
        near, anywhere = promised.loss(radius_m), promised.loss(REGION.diameter_m)
        yield made.encoding, made.table, near, anywhere, radius_m


def law(weights, uniform):
    """(fields, table) of weights that are running sums."""
    sums = [*accumulate(weights)]
    return {"uniform": uniform, "total": sums[-1] + uniform * len(sums)}, numbers(*sums)


def offsets(columns, rows, weights, uniform=1):
    fields, table = law(weights, uniform)
    return {"kind": "offsets", "columns": columns, "rows": rows, **fields}, table


def axes(across, along, uniform=1):
    (of_across, columns), (of_along, rows) = law(across, uniform), law(along, uniform)
    sides = {"columns": len(across), "rows": len(along)}
    return {"kind": "axes", **sides, "across": of_across, "along": of_along}, columns + rows


def rows(columns, high, laws):
    table = b"".join(numbers(*accumulate(weights)) for weights in laws)
    return {"kind": "rows", "columns": columns, "rows": high, "total": sum(laws[0])}, table


def gkrr(level, district_cells, own, near, far):
    weights = {"own": own, "near": near, "far": far}
    written = {name: str(weight) if weight >= 2**53 else weight for name, weight in weights.items()}
    districts = 4**level // district_cells
    return {
        "kind": "gkrr",
        "level": level,
        "districts": districts,
        "district_cells": district_cells,
        **written,
    }, b""


BIG = 1 << 50
# Each would tell the true cell, under whatever loss is claimed.
LIES = {
    "gkrr": gkrr(3, 4, 2**63, 1, 1),
    "offsets": offsets(8, 6, [BIG] + [0] * 47),
    "axes": axes([BIG] + [0] * 7, [BIG] + [0] * 5),
    "rows": rows(3, 2, [[BIG * (report == true) for report in range(6)] for true in range(6)]),
}
# Tables that are none.
NO_LAWS = {
    "offsets that fall": offsets(2, 2, [5, -1, 3, 1]),
    "axes that fall": axes([5, -1, 3], [5, 4]),
    "rows that fall": rows(2, 1, [[3, 5], [9, -1]]),
    "rows with too little": rows(2, 1, [[3, 5], [3, 4]]),
    "offsets with a remainder": (
        {**offsets(2, 2, [5, 1, 3, 1])[0], "total": 15}, offsets(2, 2, [5, 1, 3, 1])[1],
    ),
    "axes without all cells": (
        {**axes([5, 1], [5, 4])[0], "along": {"uniform": 1, "total": 10}}, axes([5, 1], [5, 4])[1],
    ),
}  # fmt: skip


def anything(seed=20261125):
    """Small laws without any shape, of every local kind."""
    draw = random.Random(seed)
    for columns, high in ((1, 1), (1, 5), (2, 2), (2, 5), (5, 4)):
        cells = columns * high
        weights = [draw.randrange(1000) for _ in range(cells)]
        yield offsets(columns, high, weights, draw.randrange(1, 50))
        yield axes(weights[:columns], [draw.randrange(1000) for _ in range(high)], draw.randrange(1, 50))
        shuffled = [draw.sample([10 * cell + 1 for cell in range(cells)], cells) for _ in range(cells)]
        yield rows(columns, high, shuffled)
    for level, district_cells in product((0, 1, 2), (1, 2, 4, 16)):
        if district_cells <= 4**level:
            yield gkrr(level, district_cells, 900, 30, 7)


def matrix(encoding, table):
    """By true cell (column, row): weights of all reports, made as devices draw them."""
    kind = encoding["kind"]
    if kind == "gkrr":
        side, size = 1 << encoding["level"], encoding["district_cells"]
        codes = {(x, y): _morton(x, y) for x in range(side) for y in range(side)}
        of = {0: encoding["far"], 1: encoding["near"], 2: encoding["own"]}
        return {
            cell: [of[(code // size == other // size) + (code == other)] for other in range(side**2)]
            for cell, code in codes.items()
        }, (side, side)
    columns, high = encoding["columns"], encoding["rows"]
    cells = [*product(range(columns), range(high))]
    sums = [int.from_bytes(table[at : at + 8], "big") for at in range(0, len(table), 8)]
    if kind == "rows":
        size = columns * high
        laws = [sums[at : at + size] for at in range(0, len(sums), size)]
        return {cell: _steps(law) for cell, law in zip(cells, laws, strict=True)}, (columns, high)
    if kind == "offsets":
        found = {}
        for column, row in cells:
            weights = dict.fromkeys(cells, 4 * encoding["uniform"])
            for (across, along), weight in zip(cells, _steps(sums), strict=True):
                for one, other in product((1, -1), repeat=2):
                    weights[_in(column + one * across, columns), _in(row + other * along, high)] += weight
            found[column, row] = [*weights.values()]
        return found, (columns, high)
    across = _axis(_steps(sums[:columns]), encoding["across"]["uniform"])
    along = _axis(_steps(sums[columns:]), encoding["along"]["uniform"])
    return {
        (column, row): [one * other for one in across[column] for other in along[row]]
        for column, row in cells
    }, (columns, high)


def largest(encoding, table, radius_m):
    """(near, anywhere) by all pairs of cells and all reports."""
    weights, (columns, high) = matrix(encoding, table)
    near = anywhere = 0.0
    for one, other in product(weights, repeat=2):
        loss = max(math.log(a / b) for a, b in zip(weights[one], weights[other], strict=True))
        across = (one[0] - other[0]) * SIZES["width_m"] / columns
        if math.hypot(across, (one[1] - other[1]) * SIZES["height_m"] / high) <= radius_m:
            near = max(near, loss)
        anywhere = max(anywhere, loss)
    return near, anywhere


def _axis(weights, uniform):
    found = []
    for cell in range(len(weights)):
        row = [2 * uniform] * len(weights)
        for offset, weight in enumerate(weights):
            for sign in (1, -1):
                row[_in(cell + sign * offset, len(weights))] += weight
        found.append(row)
    return found


def _steps(sums):
    return [after - before for before, after in zip([0, *sums], sums, strict=False)]


def _in(index, side):
    return min(max(index, 0), side - 1)


def _morton(x, y):
    return sum((x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1 for bit in range(8))
