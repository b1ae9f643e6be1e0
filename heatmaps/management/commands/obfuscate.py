"""`manage.py obfuscate FILE --bbox W,S,E,N --mechanism NAME …`: blurs each row's place by itself."""

import os
from argparse import ArgumentParser
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from heatmaps.blurring.priors import prior_of
from heatmaps.blurring.rows import Blur, Tally
from heatmaps.exports.saving import Replacement
from heatmaps.management.parsing import (
    FORMATS,
    PureCommand,
    add_reading,
    asked_epsilon,
    reading_options,
    whole,
)
from heatmaps.wording.local import statements
from mechanisms.catalogue import local
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import Relation
from mechanisms.local.optimal import Optimal
from mechanisms.local.reports import MOST_REPORTS
from mechanisms.mechanism import Target
from mechanisms.randomness import SystemSource
from mechanisms.space.grid import Region

_FURTHER: Final = ("refuse", "leave-out")


class Command(PureCommand):
    help = (
        "Blur the place of each row of a file of check-ins by itself and write user,time,lat,lon. It uses no "
        "database and charges no ledger. A person with more rows than --max-reports is refused before "
        "anything is written, unless further rows are to be left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("file", metavar="FILE", help=f"check-ins: {FORMATS}")
        add_reading(parser)
        add("--bbox", required=True, metavar="W,S,E,N", help="the region, in degrees; public")
        add("--mechanism", required=True, help=local.names())
        add("--epsilon", required=True, help="the privacy loss of one report at the radius, such as 0.5")
        add("--radius-m", required=True, metavar="R", help="metres at which epsilon is the loss")
        add("--max-reports", required=True, metavar="M", help="rows of one person, at most")
        add("--output", required=True, type=Path, metavar="OUT.csv", help="the blurred rows")
        add("--cell-m", metavar="C", help="size of the cells that are reported, at most (default: by radius)")
        add("--prior", metavar="MAP.npy", help="for optimal: a public map of the bbox (default: even)")
        add(
            "--further-rows",
            default="refuse",
            metavar="|".join(_FURTHER),
            help="of a person with more than M: refuse the file (default), or leave out all but the first M",
        )
        add("--json", action="store_true", help="print one JSON object")

    def run_on(self, options: dict[str, Any]) -> None:
        region = Region.parse(options["bbox"])
        radius_m = whole("radius_m", options["radius_m"], low=1, high=10**8)
        source, output = Path(options["file"]), Path(options["output"])
        _check_output(output, source)
        blur = _blur(options, region, radius_m)
        sentences = statements(blur.mechanism, radius_m=radius_m, diameter_m=region.diameter_m)
        tally = blur.check(source)
        with Replacement(output) as new:
            new.write(lambda stream: blur.write(source, stream, SystemSource(), tally))
        self._report(blur, tally, sentences, options)

    def _report(self, blur: Blur, tally: Tally, sentences: tuple[str, ...], options: dict[str, Any]) -> None:
        self.say_left_out(tally.rejected, tally.first_rejections)
        if tally.left_out:
            self.stderr.write(f"rows left out, beyond --max-reports: {tally.left_out}")
        if tally.outside:
            self.stderr.write(f"rows outside the bbox, counted at its border: {tally.outside}")
        self.tell(options, _result(blur, options), [f"Written: {options['output']}."], notes=sentences)


def _blur(options: dict[str, Any], region: Region, radius_m: int) -> Blur:
    if options["further_rows"] not in _FURTHER:
        raise ParameterError("further_rows", options["further_rows"], " or ".join(_FURTHER))
    epsilon = asked_epsilon(options)
    mechanism = local.build(
        options["mechanism"],
        target=Target(relation=Relation.REPLACE, epsilon=epsilon, radius_m=Fraction(radius_m)),
        max_reports=whole("max_reports", options["max_reports"], low=1, high=MOST_REPORTS),
        **_cells(options, region, Fraction(radius_m)),
    )
    return Blur(
        region=region,
        mechanism=mechanism,
        options=reading_options(options),
        max_rejected_share=settings.MAX_REJECTED_SHARE,
        leave_out=options["further_rows"] == "leave-out",
    )


def _cells(options: dict[str, Any], region: Region, radius_m: Fraction) -> dict[str, Any]:
    """Returns the lattice and, where one was given, the prior over it."""
    name, text = options["mechanism"], options["cell_m"]
    cell_m = None if text is None else exact_decimal("cell_m", text, low=0, low_open=True, high=10**8)
    lattice = local.lattice_for(name, region, radius_m=radius_m, cell_m=cell_m)
    if options["prior"] is None:
        return {"lattice": lattice}
    if name != Optimal.name:
        raise ParameterError("prior", options["prior"], f"nothing unless the mechanism is {Optimal.name}")
    return {"lattice": lattice, "prior": prior_of(Path(options["prior"]), lattice)}


def _check_output(output: Path, source: Path) -> None:
    if output.suffix != ".csv":
        raise ParameterError("output", str(output), "a name that ends in .csv")
    if not output.parent.is_dir() or not os.access(output.parent, os.W_OK):
        raise ParameterError("output", str(output), "a file in a folder that exists and can be written to")
    if output.is_dir() or (output.exists() and source.exists() and output.samefile(source)):
        raise ParameterError("output", str(output), "neither a folder nor the file that is read")


def _result(blur: Blur, options: dict[str, Any]) -> dict[str, object]:
    lattice = blur.mechanism.lattice
    return {
        "output": str(options["output"]),
        **blur.promise(),
        "cells": {
            "columns": lattice.columns,
            "rows": lattice.rows,
            "width_m": float(lattice.column_m),
            "height_m": float(lattice.row_m),
        },
    }
