"""What a report costs is computed from the integers: honest rounds keep their promise, lies are refused."""

import time
from dataclasses import replace

import pytest
from hazemap_device import DeviceError
from hazemap_device.encodings import encoding_of
from hazemap_device.encodings.encoding import Ground
from hazemap_device.facts import Facts
from hazemap_device.places import Region
from hazemap_device.promise import check_promise

from mechanisms.space.grid import Region as Grid
from tests.clients.promises import LIES, NO_LAWS, SIZES, anything, honest, largest, offsets
from tests.clients.rounds import Round, flips, items, numbers, shares, unary
from tests.mechanisms.devices.plans import REGION

REACHES_M = (0, 5000, 9000, 25_000)


def promised(encoding, table, near="2", anywhere="20", radius_m="3000"):
    loss = {"epsilon": str(near), "record_epsilon": str(anywhere), "radius_m": str(radius_m), "delta": "0"}
    made = Round((encoding, table, 1, 4), changes={"loss": loss, "region": [repr(edge) for edge in REGION]})
    return Facts.from_bytes(made.content)


def refusal(facts, table):
    with pytest.raises(DeviceError) as found:
        check_promise(facts, table)
    return found.value.code


def test_losses_are_those_of_all_pairs_of_cells():
    for encoding, table in anything():
        read = encoding_of(encoding)
        for radius_m in REACHES_M:
            found = read.losses(table, Ground(**SIZES, radius_m=radius_m))
            assert (found.near, found.anywhere) == pytest.approx(
                largest(encoding, table, radius_m), rel=1e-12
            )


def test_honest_rounds_keep_what_they_promise_and_not_much_less():
    for encoding, table, near, anywhere, radius_m in honest():
        facts = promised(encoding, table, near, anywhere, radius_m)
        check_promise(facts, table)
        less = replace(facts, loss=replace(facts.loss, record_epsilon=str(anywhere * 6 / 10)))
        assert refusal(less, table) == "false_promise"
    # At a radius of some cells, what rounding to cells adds is little beside the promise.
    less = replace(facts, loss=replace(facts.loss, epsilon=str(near * 9 / 10)))
    assert refusal(less, table) == "false_promise"


@pytest.mark.parametrize("name", LIES)
def test_what_would_tell_the_true_cell_is_refused(name):
    encoding, table = LIES[name]
    assert refusal(promised(encoding, table, near="1000", radius_m="12000"), table) == "false_promise"
    assert refusal(promised(encoding, table, anywhere="inf", radius_m="12000"), table) == "false_promise"
    check_promise(promised(encoding, table, near="inf", anywhere="inf"), table)


@pytest.mark.parametrize("name", NO_LAWS)
def test_a_table_that_is_no_law_is_refused(name):
    encoding, table = NO_LAWS[name]
    assert refusal(promised(encoding, table, near="inf", anywhere="inf"), table) == "false_promise"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (unary, lambda table: bytes(len(table))),
        (unary, lambda table: table[2:4] + table[:2] + table[4:]),
        (items, lambda table: table[8:16] + table[:8] + table[16:]),
        (items, lambda table: table[:56] * 1 + numbers(9000) + table[64:]),
        (items, lambda table: numbers(8000) * 8 + table[64:]),
        (shares, lambda table: table[:4] + table[4:6] * 2),
    ],
)
def test_a_shuffled_table_that_is_no_law_is_refused(kind, change):
    encoding, table, *sizes = kind()
    facts = Facts.from_bytes(Round((encoding, table, *sizes)).content)
    check_promise(facts, table)
    assert refusal(facts, change(table)) == "false_promise"
    check_promise(Facts.from_bytes(Round(flips()).content), b"")


def test_it_takes_a_few_moments_for_the_finest_maps():
    encoding, table = offsets(64, 64, [4096 - cell for cell in range(4096)])
    began = time.process_time()
    encoding_of(encoding).losses(table, Ground(**SIZES, radius_m=12_000))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("edges", [(13.2, 52.4, 13.6, 52.6), (-70, -54, -69, -50), (0, -1, 9, 1)])
def test_metres_are_those_of_the_product(edges):
    west, south, east, north = edges
    ours, theirs = Region(west=west, south=south, east=east, north=north), Grid(*edges)
    assert (ours.width_m, ours.height_m) == (theirs.width_m, theirs.height_m)
