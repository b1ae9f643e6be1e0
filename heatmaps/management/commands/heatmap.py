"""`manage.py heatmap FILE… --bbox W,S,E,N --mechanism NAME --epsilon E`: files in, private map out."""

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError

from heatmaps.exports import FORMATS, Format, Released, release_sheet, saving
from heatmaps.ingest.reader import ReaderError
from heatmaps.management.parsing import (
    BoxCommand,
    add_files,
    add_reading,
    named_values,
    reading_options,
    whole,
)
from heatmaps.offline import Drawn, draw
from heatmaps.wording.guarantee import sentences
from mechanisms import catalogue
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.grid import Region
from mechanisms.guarantee import Relation
from mechanisms.interface import HeatmapMechanism, SystemSource, Target

NO_LEDGER: Final = (
    "No database was used and no ledger was charged: this is one release, and each further one from the "
    "same people adds its loss to it."
)
_OUTPUT: Final = f"OUT.{{{','.join(suffix.removeprefix('.') for suffix in FORMATS)}}}"


class Command(BoxCommand):
    help = (
        "Draw a private heatmap from files of check-ins. It uses no database and charges no ledger: "
        "adding up the losses of several maps is left to you."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_files(parser)
        add_reading(parser)
        add = parser.add_argument
        add("--bbox", required=True, metavar="W,S,E,N", help="the region, in degrees; public")
        add("--mechanism", required=True, help=", ".join(e.name for e in catalogue.entries(kind="heatmap")))
        add("--epsilon", required=True, help="the privacy loss, a plain decimal such as 0.5")
        add("--resolution", default="256", help="cells a side, a power of two (default 256)")
        add("--relation", default="add_remove", choices=[relation.value for relation in Relation])
        add("--expected-persons", metavar="N", help="a public guess; only the predicted error depends on it")
        add("--delta", default="0", help="probability bound (default 0)")
        add("--radius-m", metavar="R", help="radius in metres of a metric mechanism's epsilon")
        add("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the mechanism")
        add("--output", type=Path, metavar=_OUTPUT, help="the map; its release sheet goes beside it")
        add("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._run(options)
        except (ParameterError, ReaderError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['output']}: {error.strerror or error}") from error

    def _run(self, options: dict[str, Any]) -> None:
        region, radius_m = Region.parse(options["bbox"]), _radius_m(options)
        reading = reading_options(options)
        mechanism = _mechanism(options, radius_m)
        notes = [*_promises(mechanism, region, radius_m), *_prediction(mechanism, options), NO_LEDGER]
        paths = [Path(name) for name in options["files"]]
        output = None if options["output"] is None else Path(options["output"])
        chosen = None
        if output is not None:
            chosen = saving.check_target(output, resolution=mechanism.resolution, inputs=paths)
        drawn = draw(
            paths,
            region,
            mechanism,
            SystemSource(),
            max_rejected_share=settings.MAX_REJECTED_SHARE,
            options=reading,
        )
        if output is not None and chosen is not None:
            sheet = _sheet(drawn, mechanism, region, chosen, options)
            saving.save(output, Released(heatmap=drawn.heatmap, region=region, sheet=sheet))
        self._report(drawn, mechanism, notes, options)

    def _report(
        self, drawn: Drawn, mechanism: HeatmapMechanism, notes: list[str], options: dict[str, Any]
    ) -> None:
        if drawn.points.rejected:
            shown = "; ".join(drawn.points.first_rejections)
            self.stderr.write(f"rows left out: {drawn.points.rejected}; the first: {shown}")
        for note in notes:
            (self.stderr if options["json"] else self.stdout).write(note)
        output = None if options["output"] is None else str(options["output"])
        if options["json"]:
            self.stdout.write(json.dumps(_result(drawn, mechanism, output)))
        else:
            for line in _outcome(drawn, output):
                self.stdout.write(line)


def _radius_m(options: dict[str, Any]) -> int | None:
    text = options["radius_m"]
    if text is None:
        return None
    if options["relation"] != Relation.REPLACE:
        raise ParameterError(
            "radius_m", text, "nothing unless --relation replace: moves have no loss of their own"
        )
    return whole("radius_m", text, low=1, high=10**8)


def _mechanism(options: dict[str, Any], radius_m: int | None) -> HeatmapMechanism:
    target = Target(
        relation=Relation(options["relation"]),
        epsilon=exact_decimal("epsilon", options["epsilon"], low=0, low_open=True, high=settings.MAX_EPSILON),
        delta=exact_decimal("delta", options["delta"], low=0, high=1),
        radius_m=None if radius_m is None else Fraction(radius_m),
    )
    return catalogue.build(
        options["mechanism"],
        target=target,
        resolution=whole("resolution", options["resolution"], low=2, high=2**31),
        parameters=named_values(options["parameter"]),
    )


def _sheet(
    drawn: Drawn, mechanism: HeatmapMechanism, region: Region, chosen: Format, options: dict[str, Any]
) -> dict[str, object]:
    radius_m = _radius_m(options)
    entry = catalogue.get(mechanism.name)
    known = {parameter.name: parameter.default for parameter in entry.parameters}
    return release_sheet(
        title=f"Private heatmap: {entry.title}",
        heatmap=drawn.heatmap,
        mechanism=mechanism.name,
        parameters=known | named_values(options["parameter"]),
        guarantee=mechanism.guarantee,
        region=region,
        released=datetime.now(UTC).date(),
        radius_m=radius_m,
        statements=_promises(mechanism, region, radius_m),
        values=chosen.values,
    )


def _result(drawn: Drawn, mechanism: HeatmapMechanism, output: str | None) -> dict[str, object]:
    return {
        "guarantee": mechanism.guarantee.to_json(),
        "seconds": drawn.seconds,
        "output": output,
        "sum": drawn.map_sum,
    }


def _promises(mechanism: HeatmapMechanism, region: Region, radius_m: int | None) -> tuple[str, ...]:
    diameter_m = region.diameter_m
    return sentences(mechanism.guarantee, subject="this map", radius_m=radius_m, diameter_m=diameter_m)


def _prediction(mechanism: HeatmapMechanism, options: dict[str, Any]) -> list[str]:
    if options["expected_persons"] is None:
        return []
    persons = whole("expected_persons", options["expected_persons"], low=1, high=10**12)
    bound = mechanism.expected_error(persons=persons)
    return [f"Predicted error: {bound.emd:.3g}. {bound.quantity} {bound.assumptions}"]


def _outcome(drawn: Drawn, output: str | None) -> list[str]:
    seconds = ", ".join(f"{step} {spent:.2f} s" for step, spent in drawn.seconds.items())
    where = f"{output} and {saving.sheet_path(Path(output)).name}" if output else "nowhere: no --output"
    return [f"Written: {where}.", f"For the holder of the files: {seconds}."]
