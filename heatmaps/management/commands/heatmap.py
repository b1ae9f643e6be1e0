"""`manage.py heatmap FILE… --bbox W,S,E,N --mechanism NAME --epsilon E`: draws a private map from files."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

from django.conf import settings

from heatmaps.data_slice import ALL_IN_THE_SLICE, WHOLE, DataSlice
from heatmaps.exports import FORMATS, Format, Released, release_sheet, saving
from heatmaps.guides import raster
from heatmaps.guides.raster import RasterGuide
from heatmaps.management.offline import OfflineDraw, draw
from heatmaps.management.parsing import (
    NO_LEDGER,
    PureCommand,
    add_files,
    add_reading,
    asked_epsilon,
    named_values,
    reading_options,
    whole,
)
from heatmaps.releases import slice_guarantee
from heatmaps.wording.guarantee import STARTED_FROM, added, sentences
from heatmaps.wording.unchecked_files import unchecked_file
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.mechanism import HeatmapMechanism, ItemsMechanism, Target
from mechanisms.randomness import SystemSource
from mechanisms.space.grid import Region

_MOMENTS: Final = "a date, or a date and time such as 2026-03-01T18:30:00Z; UTC where no offset is named"
_IN_FULL: Final = "Parts and periods hold the same people: the losses of their maps add up in full"
AnyMechanism: TypeAlias = HeatmapMechanism | ItemsMechanism
_OUTPUT: Final = f"OUT.{{{','.join(suffix.removeprefix('.') for suffix in FORMATS)}}}"


class Command(PureCommand):
    help = (
        "Draw a private heatmap from files of check-ins. It uses no database and charges no ledger: "
        "adding up the losses of several maps is left to you."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_files(parser)
        add_reading(parser)
        add = parser.add_argument
        add("--bbox", required=True, metavar="W,S,E,N", help="the region, in degrees; public")
        add("--mechanism", required=True, help=", ".join(e.name for e in registry.entries(kind="heatmap")))
        add("--epsilon", required=True, help="the privacy loss, a plain decimal such as 0.5")
        add("--resolution", default="256", help="cells a side, a power of two (default 256)")
        add("--relation", default="add_remove", choices=[relation.value for relation in Relation])
        add("--expected-persons", metavar="N", help="a public guess, which some mechanisms need")
        add("--persons", metavar="N", help="declared: all who are enrolled, where a mechanism needs them")
        add("--delta", help="probability bound (default: 0, or what the mechanism usually takes)")
        add("--radius-m", metavar="R", help="radius in metres of a metric mechanism's epsilon")
        add("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the mechanism")
        add("--since", metavar="TIME", help=f"only check-ins from then on: {_MOMENTS}")
        add(
            "--until",
            metavar="TIME",
            help="only check-ins before then; those without a time are in no period",
        )
        add("--rectangle", metavar="W,S,E,N", help=f"only this rectangle of the bbox, in degrees. {_IN_FULL}")
        add(
            "--guide",
            type=Path,
            metavar="MAP.tif",
            help=(
                "a public GeoTIFF of people in each pixel, adaptive only. What a map of Hazemap promises is "
                "added; any other must not be made from these people"
            ),
        )
        add("--output", type=Path, metavar=_OUTPUT, help="the map; its release sheet goes beside it")
        add("--json", action="store_true", help="print one JSON object")

    def run_on(self, options: dict[str, Any]) -> None:
        region, radius_m = Region.parse(options["bbox"]), _radius_m(options)
        reading = reading_options(options)
        mechanism = _mechanism(options, region, radius_m)
        data_slice = _data_slice(options, region, mechanism)
        guide = None if options["guide"] is None else raster.read(options["guide"], data_slice.region(region))
        if guide is not None:
            if guide.sheet is not None:
                guide.sheet.check(options["relation"])
            mechanism = _mechanism(options, region, radius_m, guide=guide)
        promise = _promise(mechanism, data_slice, region)
        notes = [
            *_promises(promise, region, radius_m, guide=guide),
            *_prediction(mechanism, data_slice, options),
            NO_LEDGER,
        ]
        paths = [Path(name) for name in options["files"]]
        output = None if options["output"] is None else Path(options["output"])
        file_format = None
        if output is not None:
            inputs = paths if guide is None else [*paths, options["guide"]]
            file_format = saving.check_target(output, resolution=mechanism.resolution, inputs=inputs)
        outcome = draw(
            paths,
            region,
            mechanism,
            SystemSource(),
            max_rejected_share=settings.MAX_REJECTED_SHARE,
            options=reading,
            data_slice=data_slice,
        )
        if output is not None and file_format is not None:
            sheet = _sheet(outcome, mechanism, (region, data_slice), file_format, options, guide=guide)
            covered = data_slice.region(region)
            saving.save(output, Released(result=outcome.heatmap, region=covered, sheet=sheet))
        self._report(outcome, promise, notes, options, guide=guide)

    def _report(
        self,
        outcome: OfflineDraw,
        promise: Guarantee,
        notes: list[str],
        options: dict[str, Any],
        *,
        guide: RasterGuide | None,
    ) -> None:
        self.say_left_out(outcome.left_out.rejected, outcome.left_out.first)
        output = None if options["output"] is None else str(options["output"])
        self.tell(
            options,
            _result(outcome, promise, output, guide=guide) | _guide_facts(guide),
            _outcome(outcome, output),
            notes=notes,
        )


def _radius_m(options: dict[str, Any]) -> int | None:
    text = options["radius_m"]
    if text is None:
        return None
    if options["relation"] != Relation.REPLACE:
        raise ParameterError(
            "radius_m", text, "nothing unless --relation replace: moves have no loss of their own"
        )
    return whole("radius_m", text, low=1, high=10**8)


def _mechanism(
    options: dict[str, Any], region: Region, radius_m: int | None, *, guide: RasterGuide | None = None
) -> AnyMechanism:
    entry = registry.get(options["mechanism"])
    target = Target(
        relation=Relation(options["relation"]),
        epsilon=asked_epsilon(options),
        delta=entry.delta(options["delta"]),
        radius_m=None if radius_m is None else Fraction(radius_m),
        expected_persons=_expected_persons(options),
        guide=None if guide is None else guide.guide,
    )
    resolution = whole("resolution", options["resolution"], low=2, high=2**31)
    parameters = named_values(options["parameter"])
    if isinstance(entry, registry.ItemsEntry):
        return registry.build_items(
            entry.name,
            target=target,
            region=region,
            persons=_persons(options),
            resolution=resolution,
            parameters=parameters,
        )
    if options["persons"] is not None:
        raise ParameterError("persons", options["persons"], f"nothing: {entry.name} needs no declared number")
    return registry.build(entry.name, target=target, resolution=resolution, parameters=parameters)


def _persons(options: dict[str, Any]) -> int:
    """Counts the declared persons, or those of the prediction. Errors: `ParameterError`."""
    text = options["persons"] or options["expected_persons"]
    if text is None:
        raise ParameterError(
            "persons", "missing", "all who are enrolled, with or without check-ins: --persons N"
        )
    return whole("persons", text, low=1, high=10**12)


def _data_slice(options: dict[str, Any], region: Region, mechanism: AnyMechanism) -> DataSlice:
    text = options["rectangle"]
    if text is not None and isinstance(mechanism, ItemsMechanism):
        raise ParameterError("rectangle", text, "nothing: this map is of whole records")
    rectangle = None if text is None else [edge.strip() for edge in text.split(",")]
    try:
        return DataSlice.parse(
            region,
            since=options["since"],
            until=options["until"],
            rectangle=rectangle,
            resolution=mechanism.resolution,
        )
    except ParameterError as error:
        option = error.parameter.removeprefix("data_slice.")
        raise ParameterError(option, error.value, error.allowed) from None


def _promise(mechanism: AnyMechanism, data_slice: DataSlice, region: Region) -> Guarantee:
    diameter_m = region.diameter_m
    return slice_guarantee.promised(
        mechanism.guarantee, by_period=data_slice.has_period, diameter_m=diameter_m
    )


def _sheet(
    outcome: OfflineDraw,
    mechanism: AnyMechanism,
    data: tuple[Region, DataSlice],
    file_format: Format,
    options: dict[str, Any],
    *,
    guide: RasterGuide | None,
) -> dict[str, object]:
    """Makes the release sheet. data: the region of all the data, and the slice of it."""
    (region, data_slice), radius_m = data, _radius_m(options)
    promise = _promise(mechanism, data_slice, region)
    entry = registry.get(mechanism.name)
    parameters = {parameter.name: getattr(mechanism, parameter.name) for parameter in entry.parameters}
    sheet = release_sheet(
        title=f"Private heatmap: {entry.title}",
        result=outcome.heatmap,
        mechanism=mechanism.name,
        mechanism_version=entry.version,
        parameters=parameters,
        guarantee=promise,
        region=data_slice.region(region),
        data_slice=data_slice,
        whole_region=region,
        released=datetime.now(UTC).date(),
        radius_m=radius_m,
        statements=_promises(promise, region, radius_m, guide=guide),
        values=file_format.values,
        together=_together(promise, guide),
    )
    return sheet | _guide_facts(guide)


def _guide_facts(guide: RasterGuide | None) -> dict[str, object]:
    """Returns the guide's part of sheet and result; empty for maps without a guide."""
    if guide is None:
        return {}
    digests = {"file_sha256": guide.file_sha256, "sha256": guide.guide.sha256}
    unchecked = unchecked_file(guide.sheet)
    conditions = list(unchecked.conditions)
    return {"guide": {**digests, "unchecked": unchecked.sentence, "conditions": conditions}}


def _together(promise: Guarantee, guide: RasterGuide | None) -> Guarantee | None:
    """Adds what the guide's release sheet promises; None where it has none."""
    return None if guide is None or guide.sheet is None else promise + guide.sheet.guarantee


def _result(
    outcome: OfflineDraw, promise: Guarantee, output: str | None, *, guide: RasterGuide | None
) -> dict[str, object]:
    """Returns the result: `guarantee` is of the map and the one that it started from, where that is known."""
    together = _together(promise, guide)
    alone = {} if together is None else {"guarantee_alone": promise.to_json()}
    return {
        "guarantee": (together or promise).to_json(),
        **alone,
        "seconds": outcome.seconds,
        "output": output,
        "sum": outcome.map_sum,
    }


def _promises(
    promise: Guarantee, region: Region, radius_m: int | None, *, guide: RasterGuide | None
) -> tuple[str, ...]:
    together = _together(promise, guide)
    promised = sentences(
        together or promise,
        subject="this map" if together is None else f"this map {STARTED_FROM}",
        radius_m=radius_m,
        diameter_m=region.diameter_m,
    )
    if guide is None:
        return promised
    own = () if together is None else (added(promise),)
    return (*promised, *own, unchecked_file(guide.sheet).sentence)


def _expected_persons(options: dict[str, Any]) -> int | None:
    text = options["expected_persons"]
    return None if text is None else whole("expected_persons", text, low=1, high=10**12)


def _prediction(mechanism: AnyMechanism, data_slice: DataSlice, options: dict[str, Any]) -> list[str]:
    persons, of_a_slice = _expected_persons(options), ""
    if isinstance(mechanism, ItemsMechanism):
        bound: ErrorBound = mechanism.expected_error()
    elif persons is None:
        return []
    else:
        bound = mechanism.expected_error(persons=persons)
        of_a_slice = "" if data_slice == WHOLE else f" {ALL_IN_THE_SLICE}"
    return [f"Predicted error: {bound.emd:.3g}. {bound.quantity} {bound.assumptions}{of_a_slice}"]


def _outcome(outcome: OfflineDraw, output: str | None) -> list[str]:
    seconds = ", ".join(f"{step} {spent:.2f} s" for step, spent in outcome.seconds.items())
    where = f"{output} and {saving.sheet_path(Path(output)).name}" if output else "nowhere: no --output"
    return [f"Written: {where}.", f"For the holder of the files: {seconds}."]
