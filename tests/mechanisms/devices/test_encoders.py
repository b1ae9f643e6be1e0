"""What devices draw from encoding and table has the law of the mechanisms' own samplers.

Chi-squared at significance 1e-6, with enough draws to find a law made for nine tenths of epsilon.
"""

import json
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms.devices.plan import big_endian
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.samplers.clustered_polya import clustered_polya
from mechanisms.space.grid import FINEST_LEVEL, morton_encode
from tests.mechanisms.devices.plans import EPSILON, SMALL, plan
from tests.mechanisms.devices.reference import Words, numbers, report, values
from tests.mechanisms.devices.vectors import vectors
from tests.mechanisms.laws import two_sample_p_value

SIGNIFICANCE = 1e-6
DRAWS = 200_000
FEW = 2_000  # reports of the slow reference
LOCAL = ["planar-geometric", "geo-local", "optimal", "frequency"]
PLACE = (300_000_000, 1_900_000_000)


def words(seed):
    source = np.random.default_rng(seed)

    def endless():
        while True:
            yield from source.integers(0, 2**64, 1 << 14, np.uint64).tolist()

    return Words(endless())


def p_value(observed, law):
    expected = law / law.sum() * observed.sum()
    common = expected >= 5
    one = [*observed[common], observed[~common].sum()]
    other = [*expected[common], max(expected[~common].sum(), 1e-9)]
    if other[-1] < 5:
        one, other = one[:-1], other[:-1]
    one, other = np.array(one), np.array(other)
    return chi2.sf(((one - other) ** 2 / other).sum(), one.size - 1)


def offsets_law(encoding, table, column, row):
    weights = np.diff(numbers(table, 8), prepend=0) / int(encoding["total"])
    law = np.full((encoding["columns"], encoding["rows"]), int(encoding["uniform"]) / int(encoding["total"]))
    sides = encoding["columns"] - 1, encoding["rows"] - 1
    for place, weight in enumerate(weights.tolist()):
        across, along = divmod(place, encoding["rows"])
        for a, b in product((across, -across), (along, -along)):
            x, y = (min(max(at, 0), side) for at, side in zip((column + a, row + b), sides, strict=True))
            law[x, y] += weight / 4
    return law.ravel()


def axes_law(encoding, table, column, row):
    ends, sides = numbers(table, 8), (encoding["columns"], encoding["rows"])
    parts = ends[: sides[0]], ends[sides[0] :]
    one, other = (
        offsets_law({"columns": side, "rows": 1, **encoding[axis]}, part_of(part), index, 0)
        for side, axis, part, index in zip(sides, ("across", "along"), parts, (column, row), strict=True)
    )
    return np.outer(one, other).ravel()


def part_of(ends):
    return b"".join(end.to_bytes(8, "big") for end in ends)


def rows_law(encoding, table, column, row):
    size, cell = encoding["columns"] * encoding["rows"], column * encoding["rows"] + row
    return np.diff(numbers(table, 8)[cell * size : (cell + 1) * size], prepend=0) / encoding["total"]


def gkrr_law(encoding, table, column, row):
    own, near, far = (int(encoding[key]) for key in ("own", "near", "far"))
    law = np.full(encoding["districts"] * encoding["district_cells"], far, np.float64)
    true = int(morton_encode(column, row, encoding["level"]))
    first = true - true % encoding["district_cells"]
    law[first : first + encoding["district_cells"]] = near
    law[true] = own
    return law


LAWS = {"offsets": offsets_law, "axes": axes_law, "items": axes_law, "rows": rows_law, "gkrr": gkrr_law}


def cell_of(made):
    return tuple(axis * made.resolution >> FINEST_LEVEL for axis in PLACE)


def sampled(made, count, seed):
    """Numbers of reports by the mechanism's own sampler, as messages number them."""
    column, row = (np.full(count, index) for index in cell_of(made))
    source = SeededSource(seed)
    if made.name == "frequency":
        found = made.gkrr.report(morton_encode(column, row, made.level), source)
    elif made.name == "emd-itemwise":
        columns, rows = made.law.reports_of_all().item.release((column, row), source)
        found = columns * made.resolution + rows
    else:
        columns, rows = made.blur.release((column, row), source)
        found = columns * made.resolution + rows
    return np.bincount(found, minlength=made.resolution**2)


@pytest.mark.parametrize("name", [*LOCAL, "emd-itemwise"])
def test_tables_of_cells_have_the_law_of_the_mechanism(name):
    made = plan(name)
    law = LAWS[made.encoding["kind"]](made.encoding, made.table, *cell_of(made))
    assert p_value(sampled(made, DRAWS, 1), law) > SIGNIFICANCE
    noisier = plan(name, epsilon=Fraction(9, 10) * EPSILON[name])
    assert p_value(sampled(noisier, DRAWS, 2), law) < SIGNIFICANCE


@pytest.mark.parametrize("name", [*LOCAL, "emd-itemwise"])
def test_a_device_reports_by_that_law(name):
    made, source = plan(name), words(3)
    encoding, table = made.encoding, made.table
    count = FEW // made.messages  # the same number of messages of each
    sent = [message for _ in range(count) for message in report(encoding, table, [PLACE], source)]
    cells = big_endian(np.frombuffer(b"".join(sent), np.uint8).reshape(-1, 4))
    law = LAWS[encoding["kind"]](encoding, table, *cell_of(made))
    assert p_value(np.bincount(cells, minlength=law.size), law) > SIGNIFICANCE
    assert p_value(np.bincount(cells, minlength=law.size), np.roll(law, 1)) < SIGNIFICANCE


@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle"])
def test_tables_of_noise_have_the_law_of_the_mechanism(name):
    made = plan(name)
    noise, size = made.randomiser.noise(), made.number_bytes
    ends = [0, *numbers(made.table, size), 1 << 8 * size]
    assert len(ends) == 2 * noise.padding + 2
    law = np.array([(high - low) / ends[-1] for low, high in pairwise(ends)])
    assert (law > 0).all()
    assert (law == law[::-1]).all()
    drawn = np.bincount(noise.noise(SeededSource(4), DRAWS) + noise.padding, minlength=law.size)
    assert p_value(drawn, law) > SIGNIFICANCE
    other = plan(name, epsilon=Fraction(9, 10) * EPSILON[name]).randomiser.noise()
    within = other.noise(SeededSource(5), DRAWS)
    within = within[abs(within) <= noise.padding]
    assert p_value(np.bincount(within + noise.padding, minlength=law.size), law) < SIGNIFICANCE


@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle"])
def test_a_device_sends_its_square_and_noise_in_ones(name):
    made, source = plan(name), words(6)
    encoding, table = made.encoding, made.table
    noise = made.randomiser.noise()
    ones = []
    for _ in range(FEW // 4):
        bits = np.frombuffer(b"".join(report(encoding, table, [PLACE], source)), np.uint8)
        assert bits.size == made.messages == 2 * encoding["places"]
        for axis in (0, 1):
            mine = bits[bits >> 1 == axis]
            ones.append(int(mine.sum()) - mine.size * 2 * axis - values(encoding, PLACE)[axis])
    drawn = np.array(ones) - noise.padding
    assert abs(drawn).max() <= noise.padding
    assert two_sample_p_value(drawn, noise.noise(SeededSource(7), DRAWS)) > SIGNIFICANCE


def test_a_device_flips_bits_as_the_mechanism_does():
    made, source = plan("rr-shuffle", least_honest=20), words(8)
    encoding = made.encoding
    sent = np.array([list(b"".join(report(encoding, b"", [PLACE], source))) for _ in range(FEW)])
    assert sent.shape[1] == made.messages
    start = 0
    for axis, (domain, value) in enumerate(zip(encoding["domains"], values(encoding, PLACE), strict=True)):
        bits = sent[:, start : start + domain] - 2 * axis
        start += domain
        protocol = made.mechanism.noise()[axis]
        own = np.unpackbits(protocol.randomise(np.full(FEW, value), SeededSource(9)), axis=1)[:, :domain]
        truth = np.arange(domain) < value
        flips, theirs = (bits != truth).sum(), (own != truth).sum()
        spread = np.sqrt(bits.size * protocol.flip * (1 - protocol.flip))
        assert spread > 5  # flips are seen
        for count in (flips, theirs):
            assert abs(count - bits.size * protocol.flip) < 5 * spread


def test_shares_sum_to_the_mass_and_noise_of_the_round():
    made, source = plan("shuffle-emd", least_honest=3, parameters={"parts": 4}), words(10)
    encoding, table = made.encoding, made.table
    modulus, shares = int(encoding["modulus"]), encoding["shares"]
    sums = []
    for _ in range(150):
        messages = report(encoding, table, [PLACE], source)
        assert len(messages) == made.messages
        sent = np.frombuffer(b"".join(messages), np.uint8).reshape(-1, made.message_bytes)
        assert (big_endian(sent[:, :4]).reshape(-1, shares) == np.arange(16)[:, np.newaxis]).all()
        sums.append(big_endian(sent[:, 4:]).reshape(-1, shares).sum(axis=1) % modulus)
    found = np.array(sums)
    found = np.where(found >= modulus // 2, found - modulus, found)
    found[:, int(morton_encode(*cell_of(made), 2))] -= 4
    noise = [
        clustered_polya(
            SeededSource(seed), shape=Fraction(1, 3), scale=made.round.law.level_scales[0], size=50_000
        )
        for seed in (11, 12)
    ]
    assert two_sample_p_value(found.ravel(), noise[0] - noise[1]) > SIGNIFICANCE
    assert two_sample_p_value(found.ravel() + 4, noise[0] - noise[1]) < SIGNIFICANCE


def test_vectors_are_what_a_device_sends():
    found = vectors()
    assert [entry["mechanism"] for entry in found] == list(SMALL)
    for entry in found:
        size = entry["messages"] * entry["message_bytes"]
        assert {len(one["messages"]) // 2 for one in entry["reports"]} == {size}
        assert json.loads(json.dumps(entry)) == entry
        made = plan(entry["mechanism"])
        for one in entry["reports"]:
            sent = np.frombuffer(bytes.fromhex(one["messages"]), np.uint8).reshape(-1, made.message_bytes)
            made.analyse(sent, 1)
