"""Lists the mechanisms that rounds of devices may use, and builds them from public facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from mechanisms.catalogue.entries import (
    LARGEST_DELTA,
    SMALLEST_DELTA,
    USUAL_DELTA,
    Entry,
    Parameter,
    entry_named,
    length_m,
    loaded,
)
from mechanisms.check import ParameterError, exact_decimal, power_of_two, whole
from mechanisms.devices.plan import MOST_REPORTS, DevicePlan, Kind
from mechanisms.devices.round_facts import RoundFacts
from mechanisms.guarantee import Relation, Trust
from mechanisms.mechanism import Target
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceEntry(Entry):
    """Describes a mechanism for rounds of devices, and builds its plan."""

    runs_on = "devices"
    name: str
    kind: Kind
    maker: str  # dotted, of (facts, parameters) -> its plan: loaded when a round is planned
    highest_resolution: int = 0  # 0: what is released has no resolution
    usual_resolution: int = 0
    is_bounded: bool = True  # one device can move the result only so far

    @property
    def has_resolution(self) -> bool:
        return self.highest_resolution > 0

    @property
    def needs_delta(self) -> bool:
        return bool(self.usual_delta)

    @property
    def open_groups(self) -> bool:
        """Returns whether anybody may ask for an invitation:
        where one sender can move a result only so far.
        """
        return self.is_bounded

    def delta(self, delta: str | int | Fraction | None) -> Fraction:
        if self.needs_delta:
            return exact_decimal("delta", delta or self.usual_delta, low=0, low_open=True, high=1)
        if delta not in (None, "", "0", 0):
            raise ParameterError("delta", delta, "nothing: this method has none")
        return Fraction(0)

    def side(self, resolution: int | None) -> int | None:
        if self.has_resolution:
            return self.usual_resolution if resolution is None else resolution
        if resolution is not None:
            raise ParameterError("resolution", resolution, "none: what comes out has no cells; leave it out")
        return None

    def _parameter_names(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters) or "none"
        return f"no such parameter of {self.name}: {names}"


def entries() -> tuple[DeviceEntry, ...]:
    """Returns the entries in the order they are offered."""
    return _ENTRIES


def get(name: str) -> DeviceEntry:
    """Returns the entry of that name. Errors: `ParameterError` listing the names."""
    return entry_named(name, _ENTRIES)


def build(
    name: str,
    *,
    region: Region,
    target: Target,
    least_honest: int,
    most_reports: int,
    resolution: int | None,
    parameters: Mapping[str, object],
) -> DevicePlan:
    """Returns the plan that spends at most the target, which is that of one report. Errors: `ParameterError`.

    least_honest: the honest reports that a round has at least; the noise of shuffled mechanisms is shared by
    so many. most_reports: the most reports of a round. resolution: None for points, and for the usual one.
    """
    entry = get(name)
    if target.relation is not Relation.REPLACE:
        raise ParameterError("relation", target.relation, Relation.REPLACE)
    whole(2 if entry.trust is Trust.SHUFFLE else 1, MOST_REPORTS, least_honest=least_honest)
    whole(least_honest, MOST_REPORTS, most_reports=most_reports)
    _check_delta(entry, target.delta)
    facts = RoundFacts(
        region=region,
        target=target,
        least_honest=least_honest,
        most_reports=most_reports,
        resolution=_resolution(entry, resolution),
    )
    plan: DevicePlan = loaded(entry.maker)(facts, entry.parsed(parameters))
    return plan


def _resolution(entry: DeviceEntry, resolution: int | None) -> int:
    if not entry.has_resolution:
        if resolution is not None:
            raise ParameterError("resolution", resolution, f"none: {entry.name} releases a point")
        return 0
    side = entry.usual_resolution if resolution is None else resolution
    power_of_two(2, entry.highest_resolution, resolution=side)
    return side


def _check_delta(entry: DeviceEntry, delta: Fraction) -> None:
    if not entry.needs_delta and delta:
        raise ParameterError("delta", float(delta), f"0: {entry.name} holds without exception")
    if entry.needs_delta and not SMALLEST_DELTA <= delta <= LARGEST_DELTA:
        raise ParameterError("delta", float(delta), f"from 1e-18 to 0.001: {entry.name} needs one")


_SQUARES_AND_REACH: Final = (
    length_m(
        name="cell_m",
        title="Squares that devices report in",
        help="Side in metres of the squares that places are rounded to. Left empty: a small part of the "
        "radius. Smaller squares are more exact and make reports longer.",
    ),
    length_m(
        name="reach_m",
        title="Distance up to which it promises",
        help="Metres; farther moves have no bound. Left empty: the radius. Farther needs more noise, except "
        "with the least-noise protocol.",
    ),
)
_ENTRIES: Final = (
    DeviceEntry(
        name="planar-geometric",
        title="Map of blurred places",
        summary="Every device moves its place at random before it reports; nobody has to be trusted. ε is "
        "the cost of one report when its place moves by the radius. For coarse maps of many people.",
        trust=Trust.LOCAL,
        kind="heatmap",
        maker="mechanisms.devices.building.offsets",
        highest_resolution=64,
        usual_resolution=8,
    ),
    DeviceEntry(
        name="geo-local",
        title="Map of places blurred on each axis",
        summary="As the one before, columns and rows by themselves: more noise, and finer squares where ε is "
        "large.",
        trust=Trust.LOCAL,
        kind="heatmap",
        maker="mechanisms.devices.building.axes",
        highest_resolution=256,
        usual_resolution=8,
    ),
    DeviceEntry(
        name="optimal",
        title="Map of reports with the least error",
        summary="Every device draws its report from the table with the least expected distance for people "
        "spread evenly. For few large squares and an ε that lets every square be told apart.",
        trust=Trust.LOCAL,
        kind="heatmap",
        maker="mechanisms.devices.building.rows",
        highest_resolution=8,
        usual_resolution=4,
    ),
    DeviceEntry(
        name="frequency",
        title="Map of squares reported at random",
        summary="Every device reports its own square, or any other, by chance; nobody has to be trusted. "
        "Every change of a report costs the same ε, however far. For few squares.",
        trust=Trust.LOCAL,
        kind="heatmap",
        maker="mechanisms.devices.building.gkrr",
        highest_resolution=256,
        usual_resolution=8,
        parameters=(
            Parameter(
                name="district_levels",
                title="Levels below a district",
                help="A district is a square that is quartered so often; wrong reports are from the own "
                "district more often than from others. Left empty: no districts.",
                kind="int",
                default="0",
                low="0",
                high="4",
            ),
        ),
    ),
    DeviceEntry(
        name="sgdl-shuffle",
        title="Central point, least noise",
        summary="Every device adds a share of the noise to its place and a shuffler mixes the bits of all: "
        "as exact as with a server that everybody trusts. Next to nothing is left without the shuffler.",
        trust=Trust.SHUFFLE,
        kind="centroid",
        maker="mechanisms.devices.building.sgdl",
        usual_delta=USUAL_DELTA,
        parameters=_SQUARES_AND_REACH,
    ),
    DeviceEntry(
        name="geo-shuffle",
        title="Central point, noise on every device",
        summary="As the one before, with noise from every device that protects a little also when the "
        "shuffler cheats; several times as much in all.",
        trust=Trust.SHUFFLE,
        kind="centroid",
        maker="mechanisms.devices.building.geo",
        usual_delta=USUAL_DELTA,
        parameters=_SQUARES_AND_REACH,
    ),
    DeviceEntry(
        name="rr-shuffle",
        title="Central point, flipped bits",
        summary="Every device flips bits at random and a shuffler mixes those of all: the oldest such "
        "protocol, with more noise than the two above.",
        trust=Trust.SHUFFLE,
        kind="centroid",
        maker="mechanisms.devices.building.flips",
        usual_delta=USUAL_DELTA,
        parameters=_SQUARES_AND_REACH,
    ),
    DeviceEntry(
        name="emd-itemwise",
        title="Map of places blurred one by one and shuffled",
        summary="Every device reports as many of its person's places, each blurred a little; in the crowd of "
        "all reports that is enough. ε is the cost when all places of a person move by the radius. For a "
        "rough picture of very many people.",
        trust=Trust.SHUFFLE,
        kind="heatmap",
        maker="mechanisms.devices.building.items",
        highest_resolution=256,
        usual_resolution=32,
        usual_delta=USUAL_DELTA,
        parameters=(
            Parameter(
                name="samples",
                title="Places drawn of every person",
                help="With replacement, the same number for everyone; a device that sends one place sends it "
                "so often. Left empty: the fewest of 16, 64 and 256 with nearly the least predicted error.",
                kind="int",
                low="1",
                high="1024",
            ),
        ),
    ),
    DeviceEntry(
        name="shuffle-emd",
        title="Sparse map by shuffled shares",
        summary="Every device splits noisy numbers for all squares into shares, of which a shuffler shows "
        "only sums: as good as with a server that everybody trusts. Every change of a report costs the same. "
        "Reports are large, one dishonest device can spoil the map, and nothing is left without the "
        "shuffler.",
        trust=Trust.SHUFFLE,
        kind="heatmap",
        maker="mechanisms.devices.building.shares",
        is_bounded=False,  # one share sets any cell
        highest_resolution=32,  # of 64 cells a side, one report would be 60,000 messages
        usual_resolution=16,
        usual_delta=USUAL_DELTA,
        parameters=(
            Parameter(
                name="parts",
                title="Parts of a person",
                help="What devices divide a person's mass into, a power of two (B in the paper). Fewer lose "
                "more of people with many places.",
                kind="int",
                default="1024",
                low="2",
                high="65536",
            ),
        ),
    ),
)
