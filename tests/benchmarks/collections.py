"""Collections: a device, the analyser and the shuffler beside bare HPKE of as many texts of the same size.

At the settings of Tables 2 and 3 of Athanasiou et al. 2025, of the demo's round, and of shuffled shares on
32 × 32 squares. Times are processor seconds, of as many devices as a figure names. Without SCALE=1, of the
Tables the settings with the fewest and the most people.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeVar

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hazemap_device.encodings import encoding_of
from hazemap_device.random_words import SystemWords
from hazemap_device.sealing import packet_bytes, sealed_packet

from heatmaps.demo.places import REGION as DEMO
from mechanisms.devices import catalogue
from mechanisms.devices.plan import DevicePlan
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.reproduction.athanasiou_2025 import austin, table_2, table_3
from mechanisms.space.grid import FINEST_LEVEL, Region
from tests.benchmarks.measure import Figure, Size, compare

T = TypeVar("T")
PROTOCOLS: Final = ("geo-shuffle", "sgdl-shuffle", "rr-shuffle")
DEVICES: Final = 1000  # whose packets the shuffler closes
MESSAGES: Final = 3_000  # that the analyser's times are measured on, of as many whole reports
# Table 2 has whole numbers from 0 to 1000 on one axis: here these are the squares of 10 m of the longer one.
SQUARE_M: Final = 10
STRIP: Final = Region(0.0, 0.0, 0.0898, 0.001)
INFO: Final = secrets.token_bytes(50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A round's mechanism and public facts; epsilon: at the radius."""

    name: str
    mechanism: str
    region: Region
    epsilon: Fraction
    delta: Fraction
    radius_m: int
    honest: int
    most: int
    cell_m: int | None = None
    resolution: int | None = None
    repeats: int = 1
    goal: str = ""  # part of the names of its goals

    def plan(self) -> DevicePlan:
        target = Target(
            relation=Relation.REPLACE,
            epsilon=self.epsilon,
            delta=self.delta,
            radius_m=Fraction(self.radius_m),
        )
        return catalogue.build(
            self.mechanism,
            region=self.region,
            target=target,
            least_honest=self.honest,
            most_reports=self.most,
            resolution=self.resolution,
            parameters={"cell_m": str(self.cell_m)} if self.cell_m else {},
        )


def demo() -> Setting:
    """As `heatmaps.management.demo_collection` plans it."""
    return Setting(
        name="the demo's round",
        mechanism="geo-shuffle",
        region=DEMO,
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
        radius_m=500,
        honest=1_400,
        most=2_000,
        cell_m=400,
        repeats=3,
        goal="demo",
    )


def tiny() -> Setting:
    """As the demo's, with squares as large as its radius: few messages."""
    return replace(demo(), name="a tiny round", radius_m=4_000, cell_m=4_000, repeats=1, goal="")


def shares() -> Setting:
    return Setting(
        name="shares on 32 x 32 squares",
        mechanism="shuffle-emd",
        region=DEMO,
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
        radius_m=500,
        honest=1_400,
        most=2_000,
        resolution=32,
        repeats=3,
        goal="shares",
    )


def published(size: Size) -> Iterator[Setting]:
    for protocol in PROTOCOLS[:1] if size.is_tiny else PROTOCOLS:
        for persons, epsilon, _ in some(table_2.PRINTED, size):
            yield Setting(
                name=f"Table 2, n = {persons}, ε = {epsilon} a step",
                mechanism=protocol,
                region=STRIP,
                epsilon=Fraction(epsilon) * table_2.NEAR,
                delta=table_2.DELTA,
                radius_m=table_2.NEAR * SQUARE_M,
                honest=persons,
                most=persons,
                cell_m=SQUARE_M,
            )
        for persons, epsilon, _ in some(table_3.PRINTED, size):
            yield Setting(
                name=f"Table 3, n = {persons}, ε = {epsilon}",
                mechanism=protocol,
                region=austin.REGION,
                epsilon=Fraction(epsilon),
                delta=austin.DELTA,
                radius_m=austin.RADIUS_M,
                honest=persons,
                most=persons,
                cell_m=austin.CELL_M,
            )


def some(settings: Sequence[T], size: Size) -> Sequence[T]:
    """Returns all with SCALE=1, else the first and the last; the first of a tiny run."""
    return {Size.TINY: settings[:1], Size.LARGE: settings}.get(size, [settings[0], settings[-1]])


class Crowd:
    """Devices of a setting with the client's own code, and keys of both roles."""

    def __init__(self, plan: DevicePlan) -> None:
        self.plan, self.table = plan, plan.table
        self.encoding = encoding_of(json.loads(json.dumps(plan.encoding)))
        self.analyser, self.shuffler = X25519PrivateKey.generate(), X25519PrivateKey.generate()
        self.digest = hashlib.sha256(b"facts").digest()

    def report(self) -> list[bytes]:
        place = secrets.randbelow(1 << FINEST_LEVEL), secrets.randbelow(1 << FINEST_LEVEL)
        return self.encoding.report([place], self.table, SystemWords())

    def packet(self) -> bytes:
        return sealed_packet(
            self.report(),
            analyser_key=self.analyser.public_key().public_bytes_raw(),
            shuffler_key=self.shuffler.public_key().public_bytes_raw(),
            facts_sha256=self.digest,
        )


def device(setting: Setting, crowd: Crowd) -> Figure:
    from heatmaps.collections.unsealing import SUITE

    plan, key = crowd.plan, crowd.analyser.public_key()
    texts = [secrets.token_bytes(plan.message_bytes) for _ in range(plan.messages)]
    size = packet_bytes(plan.messages, plan.message_bytes)
    return compare(
        f"{setting.mechanism}, {setting.name}: a device, {plan.messages} messages, {size} bytes",
        crowd.packet,
        "as many bare HPKE seals",
        lambda: [SUITE.encrypt(text, key, INFO) for text in texts],
        repeats=setting.repeats,
        clock=time.process_time,
        goal=f"collections.{setting.goal}.device" if setting.goal else "",
    )


def analyser(setting: Setting, crowd: Crowd) -> Figure:
    """Opening and analysing, from the batch to the result."""
    from heatmaps.collections.unsealing import SUITE, opened

    plan, key = crowd.plan, crowd.analyser
    reports = max(2, -(-MESSAGES // plan.messages)) if plan.kind == "centroid" else 1
    sealed_bytes = 48 + plan.message_bytes
    info = b"hazemap message 1\x00" + crowd.digest
    public = key.public_key()
    sealed = sorted(SUITE.encrypt(text, public, info) for _ in range(reports) for text in crowd.report())
    batch = b"".join(sealed)
    assert len(batch) == len(sealed) * sealed_bytes

    def analysed() -> object:
        messages = opened(batch, key, facts_sha256=crowd.digest, message_bytes=plan.message_bytes)
        if len(messages) != len(sealed):
            raise AssertionError("messages were lost")
        return plan.analyse(messages, reports)

    return compare(
        f"{setting.mechanism}, {setting.name}: the analyser of {reports} devices",
        analysed,
        "as many bare HPKE opens",
        lambda: [SUITE.decrypt(text, key, info) for text in sealed],
        repeats=setting.repeats,
        clock=time.process_time,
        goal=f"collections.{setting.goal}.analyser" if setting.goal else "",
    )


def figures(size: Size) -> Iterator[Figure]:
    yield from figures_of([tiny()] if size.is_tiny else [demo(), shares()])


def published_figures(size: Size) -> Iterator[Figure]:
    yield from figures_of(published(size))


def figures_of(settings: Iterable[Setting]) -> Iterator[Figure]:
    for setting in settings:
        crowd = Crowd(setting.plan())
        yield device(setting, crowd)
        yield analyser(setting, crowd)
