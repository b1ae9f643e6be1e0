"""Audits rounds of devices from the analyser's side: all messages of all devices, mixed, and nothing else.

Two rounds differ in one person's place. Bounds (`mechanisms.audit`) hold with 99.9 % confidence; what they
reach of a claim stands beside each. Devices are the client's, or stand-ins that are shown to have their law.
"""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hazemap_device.sealing import packet_bytes, sealed_packet
from scipy.stats import chi2

from heatmaps.collections import unsealing
from mechanisms.audit.batches import Runs, least_loss
from mechanisms.audit.outcomes import in_order
from mechanisms.check import ParameterError
from tests.mechanisms.devices.audits import (
    ACROSS_THE_MIDDLE,
    REAL,
    TWO_EACH,
    found,
    from_packets,
    made,
    shuffled,
)
from tests.mechanisms.devices.rounds import (
    LAST,
    NORTH_EAST,
    SOUTH_WEST,
    Devices,
    Words,
    cells,
    distance_m,
    farthest_within_radius,
    mixed,
    ones,
    place_of,
    sums,
    windowed,
)
from tests.mechanisms.devices.stand_ins import flipped_ones, law_of, laws_of_cells, noisy_masses, unary_ones
from tests.mechanisms.laws import two_sample_p_value

SIGNIFICANCE = 1e-6


@pytest.mark.parametrize(
    "name",
    ["geo-shuffle", *(pytest.param(name, marks=pytest.mark.long) for name in ("shuffle-emd", "optimal"))],
)
def test_sealing_mixing_and_opening_leave_the_messages_of_all(name, tmp_path):
    """The client's packets through the shuffler's own closing to what the analyser opens."""
    made_for, facts = made(name, epsilon=3, honest=3), json.dumps({"round": name})
    analyser, shuffler = X25519PrivateKey.generate(), X25519PrivateKey.generate()
    devices, digest = Devices.of(made_for), hashlib.sha256(facts.encode()).digest()
    packets = devices.packets([SOUTH_WEST, NORTH_EAST, (LAST // 3, LAST // 2)], Words(1))
    sealed = [
        sealed_packet(
            packet,
            analyser_key=analyser.public_key().public_bytes_raw(),
            shuffler_key=shuffler.public_key().public_bytes_raw(),
            facts_sha256=digest,
        )
        for packet in packets
    ]
    size = packet_bytes(made_for.messages, made_for.message_bytes)
    sizes = {"messages": made_for.messages, "message_bytes": made_for.message_bytes}
    told = {"facts": facts, "packet_bytes": size, **sizes}
    (tmp_path / "packets").write_bytes(b"".join(sealed))
    (tmp_path / "key").write_bytes(shuffler.private_bytes_raw())
    (tmp_path / "round.json").write_text(json.dumps(told))
    command = [sys.executable, "-m", "tests.mechanisms.devices.mixing", str(tmp_path)]
    environment = os.environ | {"HAZEMAP_SHUFFLER_STATE": str(tmp_path / "state")}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "3\n"
    got = unsealing.opened(
        (tmp_path / "batch").read_bytes(),
        analyser,
        facts_sha256=digest,
        message_bytes=made_for.message_bytes,
    )
    assert sorted(row.tobytes() for row in got) == mixed(packets)
    if name != "optimal":  # one message each: nothing of the order of packets is left in the others
        order = [row.tobytes() for row in got]
        assert order not in (b"".join(packet) for packet in packets)
        assert order != [message for packet in packets for message in packet]


def test_an_order_of_outcomes_finds_a_known_loss_and_makes_none_up():
    """Four outcomes of odds 4, 2, 1, 1 against 1, 1, 2, 4, numbered without any order: a loss of log 4."""
    rng, odds = np.random.default_rng(1), np.array([4, 2, 1, 1]) / 8
    one, other, again = (rng.choice([7, -3, 10**12, 0], 60_000, p=law) for law in (odds, odds[::-1], odds))
    assert 0.9 * np.log(4) < least_loss(*in_order(one, other), seed=1) < np.log(4)
    assert least_loss(*in_order(one, again), seed=1) < 0.03


def test_a_round_of_real_devices_keeps_its_claim():
    """RR-Shuffle with two people; short. A bound on 4,000 rounds reaches little of it."""
    made_for = made("rr-shuffle", honest=2)
    devices, words = Devices.of(made_for), Words(3)
    rows = [
        [ones(mixed(devices.packets([place, SOUTH_WEST], words))) for _ in range(4_000)]
        for place in farthest_within_radius(devices, TWO_EACH)
    ]
    runs = [Runs(values=np.array(part).sum(axis=1)) for part in rows]
    reached, delta = found(*runs, made_for.per_report)
    assert 0.05 < reached <= 1
    assert delta <= 1


def p_value(observed, law):
    expected = np.asarray(law) / np.sum(law) * np.sum(observed)
    common = expected >= 5
    one = np.append(observed[common], observed[~common].sum())
    other = np.append(expected[common], max(expected[~common].sum(), 1e-9))
    if other[-1] < 5:
        one, other = one[:-1], other[:-1]
    return chi2.sf(((one - other) ** 2 / other).sum(), one.size - 1)


@pytest.mark.long
@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle"])
def test_stand_ins_of_unary_bits_have_the_clients_law(name):
    devices, words = Devices.of(made(name, honest=4)), Words(5)
    place = place_of(devices, (2, 1))
    rows = np.array([ones(devices.report([place], words)) for _ in range(REAL // 3)]) - (2, 1)
    for axis in (0, 1):
        law = law_of(devices)
        assert p_value(np.bincount(rows[:, axis], minlength=law.size), law) > SIGNIFICANCE
        other = law_of(Devices.of(made(name, epsilon="1.5", honest=4)))
        shorter = np.zeros(law.size)
        shorter[(law.size - other.size) // 2 :][: other.size] = other
        assert p_value(np.bincount(rows[:, axis], minlength=law.size), shorter) < SIGNIFICANCE


@pytest.mark.long
def test_stand_ins_of_flipped_bits_have_the_clients_law():
    devices, words = Devices.of(made("rr-shuffle", honest=4)), Words(6)
    place = place_of(devices, (3, 2))
    rows = np.array([ones(devices.report([place], words)) for _ in range(REAL)])
    drawn = flipped_ones(devices, (3, 2), 1, REAL, 1)
    away = flipped_ones(devices, (4, 2), 1, REAL, 1)
    assert all(two_sample_p_value(rows[:, axis], drawn[:, axis]) > SIGNIFICANCE for axis in (0, 1))
    assert two_sample_p_value(rows[:, 0], away[:, 0]) < SIGNIFICANCE


@pytest.mark.long
def test_stand_ins_of_items_have_the_clients_law():
    made_for = made("emd-itemwise", honest=20, samples=4)
    devices, words = Devices.of(made_for), Words(7)
    for place, law in zip((SOUTH_WEST, NORTH_EAST), laws_of_cells(made_for), strict=True):
        drawn = [cell for _ in range(REAL // 3) for cell in cells(devices.report([place], words))]
        assert p_value(np.bincount(drawn, minlength=16), law) > SIGNIFICANCE
        assert p_value(np.bincount(drawn, minlength=16), law[::-1]) < SIGNIFICANCE


@pytest.mark.long
def test_stand_ins_of_shares_have_the_clients_law():
    made_for = made("shuffle-emd", honest=4)
    devices, words = Devices.of(made_for), Words(8)
    rows = [sums(devices.report([NORTH_EAST], words), devices.encoding) for _ in range(REAL // 6)]
    drawn = noisy_masses(made_for, True, 2, REAL, 1)
    for cell in range(4):
        own = np.array(rows)[:, cell]
        assert two_sample_p_value(own, drawn[:, 0, cell]) > SIGNIFICANCE
    assert two_sample_p_value(np.array(rows)[:, 0], drawn[:, 1, 0]) < SIGNIFICANCE


# What a bound reaches of the claim at least: of RR-Shuffle least, whose account takes δ apart on two axes.
REACHED = {
    "geo-shuffle": 0.75,
    "sgdl-shuffle": 0.9,
    "rr-shuffle": 0.3,
    "emd-itemwise": 0.5,
    "shuffle-emd": 0.75,
}


@pytest.mark.long
@pytest.mark.parametrize("name", REACHED)
def test_a_shuffled_claim_is_kept_where_a_place_moves_by_the_radius(name):
    """Item-wise and shares from corner to corner, where their claims are the same."""
    people = 2 if name in ("geo-shuffle", "sgdl-shuffle", "shuffle-emd") else 4
    made_for = made(name, honest=people)
    if name not in ("emd-itemwise", "shuffle-emd"):
        farthest_within_radius(Devices.of(made_for), TWO_EACH)  # asserts that the radius allows it
    reached, delta = found(*shuffled(name, made_for, people), made_for.per_report)
    assert REACHED[name] < reached <= 1
    assert delta <= 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle", "rr-shuffle"])
def test_a_shuffled_claim_is_kept_from_corner_to_corner(name):
    """With a reach that covers the region; bounds reach 0.6, 0.8 and 0.2 of it."""
    made_for = made(name, epsilon="0.5", honest=3, cell_m="2000", reach_m=10_000)
    squares = Devices.of(made_for).encoding.plane.values(NORTH_EAST)
    far = distance_m(SOUTH_WEST, NORTH_EAST)
    assert squares == (4, 3)
    reached, delta = found(*shuffled(name, made_for, 3, squares=squares), made_for.per_report, far)
    assert 0.15 < reached <= 1
    assert delta <= 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["planar-geometric", "geo-local", "optimal", "frequency"])
def test_a_local_claim_is_kept_and_half_the_noise_is_caught(name):
    """Everybody else's messages are taken off as known: nobody is trusted. From corner to corner bounds reach
    at least 0.75 of the claim; within the radius 0.3, where cells are wider than it."""
    claimed = made(name, epsilon=3, honest=2).per_report
    for epsilon, is_kept in ((3, True), (6, False)):
        made_for = made(name, epsilon=epsilon, honest=2)
        losses = []
        for places in (ACROSS_THE_MIDDLE, (SOUTH_WEST, NORTH_EAST)):
            runs = from_packets(made_for, places, lambda packet: cells(packet)[0])
            losses.append(least_loss(*runs, seed=1) / float(claimed.loss(distance_m(*places))))
        assert losses[0] > 0.25
        assert losses[1] > 0.75
        assert (max(losses) <= 1) == is_kept


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "times"),
    [("geo-shuffle", 2), ("sgdl-shuffle", 2), ("rr-shuffle", 3), ("emd-itemwise", 2), ("shuffle-emd", 2)],
)
def test_too_little_noise_is_caught(name, times):
    """Half of it; of RR-Shuffle a third, for half stays just within what its account leaves."""
    people = 2 if name in ("geo-shuffle", "sgdl-shuffle", "shuffle-emd") else 4
    sold, really = made(name, honest=people), made(name, epsilon=times, honest=people)
    reached, delta = found(*shuffled(name, really, people), sold.per_report)
    assert reached > 1.25
    assert delta > 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "times"),
    [("geo-shuffle", 2), ("sgdl-shuffle", 2), ("rr-shuffle", 8), ("emd-itemwise", 50), ("shuffle-emd", 2)],
)
def test_noise_for_more_honest_people_than_there_are_is_caught(name, times):
    """Twice as many; of the two whose accounts are no equations, several times as many."""
    people = 2 if name in ("geo-shuffle", "sgdl-shuffle", "shuffle-emd") else 4
    sold = made(name, honest=times * people)
    reached, delta = found(*shuffled(name, sold, people), sold.per_report)
    assert reached > 1.05
    assert delta > 2


@pytest.mark.long
@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle", "shuffle-emd"])
def test_one_device_without_noise_is_caught(name):
    """Of two."""
    sold = made(name, honest=2)
    reached, delta = found(*shuffled(name, sold, 1), sold.per_report)
    assert reached > 1.2
    assert delta > 10


@pytest.mark.long
def test_a_coarse_table_sold_without_its_charge_is_caught():
    """Of numbers of one byte, which have room for no noise but none at all and the largest. What a proper
    table costs, 2^-20 of δ, no audit sees."""
    sold = made("sgdl-shuffle", honest=1000)
    with pytest.raises(ParameterError, match="delta"):
        replace(sold, number_bytes=1)
    devices, padding = Devices.of(sold), sold.randomiser.noise().padding
    table = devices.table[:: devices.encoding.number_bytes]  # the first byte of each number
    coarse = Devices(replace(devices.encoding, number_bytes=1), table)
    rows = [unary_ones(coarse, squares, 1000, 2_000, seed) for seed, squares in enumerate(((0, 0), TWO_EACH))]
    runs = [Runs(values=windowed(part % padding, (0, 0))) for part in rows]
    reached, delta = found(*runs, sold.per_report)
    assert reached > 4
    assert delta > 500
