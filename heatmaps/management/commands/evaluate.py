"""`manage.py evaluate FILE… (--bbox | --cells)`: measures mechanisms on real check-ins; releases nothing."""

import math
from argparse import ArgumentParser
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from heatmaps.guides import raster
from heatmaps.guides.raster import RasterGuide
from heatmaps.ingest.formats.file_points import FilePoints, read_points
from heatmaps.management.parsing import PureCommand, add_files, whole
from heatmaps.management.progress import Progress
from mechanisms.catalogue import registry
from mechanisms.catalogue.registry import AnyEntry
from mechanisms.central.adaptive.mechanism import GUIDED, takes_guide
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.evaluation.earth_mover import TransportError
from mechanisms.evaluation.places import CheckInPlace, Split, box, densest
from mechanisms.evaluation.protocol import ComparisonRow, Protocol, compare
from mechanisms.guarantee import Relation
from mechanisms.mechanism import HeatmapMechanism, Target
from mechanisms.space.grid import Region

COLUMNS: Final = ("emd", "emd_metres", "kl", "kl_mixed", "similarity", "pearson")


class Command(PureCommand):
    help = (
        "Compare mechanisms by the heatmap paper's protocol. Randomness is seeded and results show the "
        "data: nothing it prints is private."
    )
    refusals = (*PureCommand.refusals, TransportError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_files(parser)
        add = parser.add_argument
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--bbox", metavar="W,S,E,N", help="one place, in degrees")
        where.add_argument(
            "--cells", metavar="K", help="the K cells with most check-ins of a 300×300 partition"
        )
        add("--mechanisms", required=True, metavar="A,B", help="names of the catalogue")
        add("--epsilons", required=True, metavar="E,F", help="plain decimals, such as 0.5,1")
        add("--persons", default="200", help="drawn in each trial (default 200)")
        add(
            "--trials", default="240", help="in total over all cells, per mechanism and epsilon (default 240)"
        )
        add("--sigma", default="4", help="of the Gaussian, in cells; what leaves the map is cut (default 4)")
        add("--resolution", default="256", help="cells a side, a power of two (default 256)")
        add("--emd-exact", action="store_true", help="on the full grid, not on 32×32 blocks")
        add(
            "--expected-persons",
            metavar="FACTOR",
            default="1",
            help="the public guess that mechanisms get, as a multiple of the persons drawn (default 1)",
        )
        add("--split", default="all", choices=[split.value for split in Split], help="half of the cells")
        add(
            "--guide",
            type=Path,
            metavar="MAP.tif",
            help="a public GeoTIFF of people in each pixel of --bbox, for adaptive where it takes one",
        )
        add("--seed", default="0", help="whole number; the same seed, the same result (default 0)")
        add("--json", action="store_true", help="print one JSON object")

    def run_on(self, options: dict[str, Any]) -> None:
        region = None if options["bbox"] is None else Region.parse(options["bbox"])
        protocol, guide = _protocol(options), _guide(options, region)
        mechanisms = _mechanisms(options, guide)
        count = 0 if options["cells"] is None else whole("cells", options["cells"], low=1, high=90_000)
        paths = [Path(name) for name in options["files"]]
        points = read_points(paths, region=region, max_rejected_share=settings.MAX_REJECTED_SHARE)
        places = _places(points, region, count, protocol, Split(options["split"]))
        if region is None and len(places) < count:
            self.stderr.write(f"only {len(places)} cells have {protocol.persons} persons")
        rows = compare(places, mechanisms, protocol, progress=Progress(self.stderr, "trial"))
        guess = f"{options['expected_persons']} × the right one"
        last = f"Public guess of the number of persons, where one is used: {guess}."
        records = [_json(row, mechanism) for row, mechanism in zip(rows, mechanisms, strict=True)]
        self.tell(options, {"rows": records}, [*_table(rows), last, *_about(guide, mechanisms)])


def _protocol(options: dict[str, Any]) -> Protocol:
    return Protocol(
        persons=whole("persons", options["persons"], low=1, high=2**20),
        trials=whole("trials", options["trials"], low=1, high=10**6),
        sigma=float(exact_decimal("sigma", options["sigma"], low=0, high=4096)),
        resolution=whole("resolution", options["resolution"], low=2, high=2**31),
        exact=options["emd_exact"],
        seed=whole("seed", options["seed"], low=0, high=2**64),
    )


def _guide(options: dict[str, Any], region: Region | None) -> RasterGuide | None:
    path = options["guide"]
    if path is None:
        return None
    if region is None:
        raise ParameterError("guide", path, "nothing with --cells: a guide is a map of one place, --bbox")
    return raster.read(path, region)


def _mechanisms(options: dict[str, Any], guide: RasterGuide | None) -> list[HeatmapMechanism]:
    """Returns each mechanism at each epsilon; records are exchanged only for those that know nothing else."""
    epsilons = [exact_decimal("epsilons", e, low=0, low_open=True) for e in options["epsilons"].split(",")]
    resolution = whole("resolution", options["resolution"], low=2, high=2**31)
    persons = whole("persons", options["persons"], low=1, high=2**20)
    factor = exact_decimal("expected_persons", options["expected_persons"], low=0, low_open=True, high=1000)
    entries = [registry.get(name) for name in options["mechanisms"].split(",")]
    built = [
        registry.build(
            entry.name,
            target=_target(entry, epsilon, max(1, round(persons * factor)), guide),
            resolution=resolution,
            parameters={},
        )
        for entry in entries
        for epsilon in epsilons
    ]
    if guide is not None and not any(map(_is_guided, built)):
        least, most = GUIDED
        allowed = f"nothing unless adaptive is compared where people times epsilon are {least} to {most}"
        raise ParameterError("guide", options["guide"], allowed)
    return built


def _is_guided(mechanism: HeatmapMechanism) -> bool:
    return getattr(mechanism, "guide", None) is not None


def _target(entry: AnyEntry, epsilon: Fraction, persons: int, guide: RasterGuide | None) -> Target:
    """Returns a target, with the guide where the mechanism takes it."""
    relation = Relation.ADD_REMOVE if Relation.ADD_REMOVE in entry.relations else Relation.REPLACE
    target = Target(relation=relation, epsilon=epsilon, expected_persons=persons)
    if guide is None or not (entry.takes_guide and takes_guide(relation, epsilon, persons)):
        return target
    return replace(target, guide=guide.guide)


def _places(
    points: FilePoints, region: Region | None, count: int, protocol: Protocol, split: Split
) -> tuple[CheckInPlace, ...]:
    columns = (points.persons, points.lat, points.lon)
    if region is not None:
        return (box(region, *columns),)
    places = densest(*columns, count=count, least_persons=protocol.persons, split=split)
    if not places:
        raise ParameterError("persons", protocol.persons, "the persons of some cell; none has so many")
    return places


def _json(row: ComparisonRow, mechanism: HeatmapMechanism) -> dict[str, object]:
    figures = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in asdict(row).items()
    }
    return figures | {"guided": _is_guided(mechanism)}


def _about(guide: RasterGuide | None, mechanisms: list[HeatmapMechanism]) -> list[str]:
    if guide is None:
        return []
    rows = ", ".join(f"{m.name} at ε = {float(m.epsilon):g}" for m in mechanisms if _is_guided(m))
    unchecked = "If it was made from these check-ins, their errors are too small."
    return [f"Guided: {rows}. SHA-256 of the guide: {guide.file_sha256}. {unchecked}"]


def _table(rows: list[ComparisonRow]) -> list[str]:
    first = rows[0]
    lines = [f"{'mechanism':<12} {'epsilon':>7} " + " ".join(f"{name:>17}" for name in COLUMNS)]
    lines += [
        f"{row.mechanism:<12} {row.epsilon:>7g} " + " ".join(f"{_cell(row, name):>17}" for name in COLUMNS)
        for row in rows
    ]
    lines.append(
        f"Means over {first.trials} trials of {first.persons} persons (± standard error); "
        f"{first.resolution}×{first.resolution} cells, Gaussian σ = {first.sigma:g} cells, mass outside cut."
    )
    return lines


def _cell(row: ComparisonRow, name: str) -> str:
    value, error = getattr(row, name), getattr(row, f"{name}_se", None)
    if error is None:
        return f"{value:.0f}"
    return f"{value:.4f} ± {error:.4f}"
