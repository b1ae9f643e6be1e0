"""A device in plain Python: reads a round's encoding and table and nothing else of the product.

Written from docs/explanation/collections.md alone, slow and straightforward: what clients and arrays
are compared with.
"""

from collections.abc import Iterator
from fractions import Fraction

FINEST = 31


class Words:
    """Uniform 64-bit words in the order they are taken, which `taken` keeps."""

    def __init__(self, source: Iterator[int]) -> None:
        self.source = source
        self.taken: list[int] = []

    def word(self) -> int:
        self.taken.append(next(self.source))
        return self.taken[-1]

    def bits(self, count: int) -> int:
        """The lowest bits of as many words as they need, the first word lowest."""
        value = 0
        for place in range(-(-count // 64)):
            value |= self.word() << 64 * place
        return value & ((1 << count) - 1)

    def below(self, bound: int) -> int:
        if bound == 1:
            return 0
        bits = (bound - 1).bit_length()
        if bound == 1 << bits:
            return self.bits(bits)
        if bound < 1 << 64:
            multiple = (1 << 64) // bound * bound
            while (word := self.word()) >= multiple:
                pass
            return word % bound
        while (value := self.bits(bits)) >= bound:
            pass
        return value

    def coin(self, p: int, q: int) -> bool:
        """True with probability e^(−p/q), for p up to q."""
        i = 1
        while self.below(q) < p and self.below(i) == 0:
            i += 1
        return i % 2 == 1


def report(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    """The messages of one report; places are finest cells (x, y)."""
    return _KINDS[encoding["kind"]](encoding, table, places, words)


def numbers(table: bytes, size: int) -> list[int]:
    return [int.from_bytes(table[at : at + size], "big") for at in range(0, len(table), size)]


def at_most(ends: list[int], value: int) -> int:
    return sum(1 for end in ends if end <= value)


def _cell(place: tuple[int, int], encoding: dict) -> tuple[int, int]:
    x, y = place
    return x * encoding["columns"] >> FINEST, y * encoding["rows"] >> FINEST


def _reported(column: int, row: int, encoding: dict) -> bytes:
    return (column * encoding["rows"] + row).to_bytes(4, "big")


def _stopped(index: int, side: int) -> int:
    return min(max(index, 0), side - 1)


def _offsets(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    ends, rows = numbers(table, 8), encoding["rows"]
    v = words.below(int(encoding["total"]))
    if v >= ends[-1]:
        return [((v - ends[-1]) // int(encoding["uniform"])).to_bytes(4, "big")]
    across, along = divmod(at_most(ends, v), rows)
    across, along = (-offset if words.below(2) else offset for offset in (across, along))
    column, row = _cell(places[0], encoding)
    return [_reported(_stopped(column + across, encoding["columns"]), _stopped(row + along, rows), encoding)]


def _axis(index: int, side: int, law: dict, ends: list[int], words: Words) -> int:
    v = words.below(int(law["total"]))
    if v >= ends[-1]:
        return (v - ends[-1]) // int(law["uniform"])
    offset = at_most(ends, v)
    return _stopped(index - offset if words.below(2) else index + offset, side)


def _on_axes(encoding: dict, table: bytes, place: tuple[int, int], words: Words) -> bytes:
    ends = numbers(table, 8)
    column, row = _cell(place, encoding)
    columns = encoding["columns"]
    across = _axis(column, columns, encoding["across"], ends[:columns], words)
    along = _axis(row, encoding["rows"], encoding["along"], ends[columns:], words)
    return _reported(across, along, encoding)


def _axes(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    return [_on_axes(encoding, table, places[0], words)]


def _items(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    return [
        _on_axes(encoding, table, places[words.below(len(places))], words) for _ in range(encoding["samples"])
    ]


def _rows(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    column, row = _cell(places[0], encoding)
    size, cell = encoding["columns"] * encoding["rows"], column * encoding["rows"] + row
    ends = numbers(table, 8)[cell * size : (cell + 1) * size]
    return [at_most(ends, words.below(int(encoding["total"]))).to_bytes(4, "big")]


def morton(x: int, y: int, level: int) -> int:
    code = 0
    for bit in range(level):
        code |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    return code


def _gkrr(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    own, near, far = (int(encoding[key]) for key in ("own", "near", "far"))
    size, level = encoding["district_cells"], encoding["level"]
    cells = encoding["districts"] * size
    x, y = (axis >> FINEST - level for axis in places[0])
    true = morton(x, y, level)
    v = words.below(own - near + size * (near - far) + cells * far)
    if v < cells * far:
        found = v // far
    elif v - cells * far < size * (near - far):
        found = true // size * size + (v - cells * far) // (near - far)
    else:
        found = true
    return [found.to_bytes(4, "big")]


def values(encoding: dict, place: tuple[int, int]) -> list[int]:
    """Squares from the west and from the south."""
    found = []
    for axis, (index, side) in enumerate(zip(place, ("width_um", "height_um"), strict=True)):
        middle = Fraction((2 * index + 1) * encoding[side], 2 ** (FINEST + 1) * encoding["cell_um"])
        found.append(min((middle + Fraction(1, 2)).__floor__(), encoding["domains"][axis]))
    return found


def _unary(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    size, bits = encoding["number_bytes"], []
    ends = numbers(table, size)
    for axis, value in enumerate(values(encoding, places[0])):
        ones = value + at_most(ends, words.below(1 << 8 * size))  # minus the padding, plus the padding
        bits += [axis * 2 + (place < ones) for place in range(encoding["places"])]
    return [bytes([bit]) for bit in bits]


def _flips(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    bits = []
    for axis, value in enumerate(values(encoding, places[0])):
        for place in range(encoding["domains"][axis]):
            flipped = words.below(1 << 32) < encoding["flips"][axis]
            bits.append(axis * 2 + ((place < value) != flipped))
    return [bytes([bit]) for bit in bits]


def cluster(scale: Fraction, words: Words) -> int:
    """P(k) ∝ e^(−k/scale) / k."""
    a, b = scale.numerator, scale.denominator
    octaves = (400 * a // b).bit_length()
    while True:
        first = 1 << words.below(octaves)
        k = first + words.below(first)
        if words.below(k) >= first:
            continue
        whole, rest = divmod((k - 1) * b, a)
        if all(words.coin(1, 1) for _ in range(whole)) and words.coin(rest, a):
            return k


def _shares(encoding: dict, table: bytes, places: list[tuple[int, int]], words: Words) -> list[bytes]:
    size, modulus, finest = encoding["number_bytes"], int(encoding["modulus"]), encoding["levels"][-1]
    masses = dict.fromkeys(range(4**finest), 0)
    for x, y in places:
        masses[morton(x >> FINEST - finest, y >> FINEST - finest, finest)] += encoding["parts"] // len(places)
    ends, messages, coordinate = numbers(table, size), [], 0
    for place, level in enumerate(encoding["levels"]):
        entries, scale = encoding["cluster_entries"][place], Fraction(encoding["scales"][place])
        here, ends = ends[:entries], ends[entries:]
        for cell in range(4**level):
            value = sum(mass for code, mass in masses.items() if code >> 2 * (finest - level) == cell)
            for sign in (1, -1):
                clusters = at_most(here, words.below(1 << 8 * size))
                value += sign * sum(cluster(scale, words) for _ in range(clusters))
            parts = [words.below(modulus) for _ in range(encoding["shares"] - 1)]
            parts.append((value - sum(parts)) % modulus)
            messages += [
                coordinate.to_bytes(4, "big") + part.to_bytes(encoding["value_bytes"], "big")
                for part in parts
            ]
            coordinate += 1
    return messages


_KINDS = {
    "offsets": _offsets,
    "axes": _axes,
    "rows": _rows,
    "gkrr": _gkrr,
    "unary": _unary,
    "flips": _flips,
    "items": _items,
    "shares": _shares,
}
