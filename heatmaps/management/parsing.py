"""Parses arguments that commands share."""

import json
import re
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from heatmaps.ingest.formats.reader import ReaderError
from heatmaps.ingest.options import Options
from mechanisms.check import ParameterError, exact_decimal

FORMATS: Final = "CSV, NDJSON, SNAP check-ins (all also as gzip) or Parquet, with user, time, lat, lon"

NO_LEDGER: Final = (
    "No database was used and no ledger was charged: this is one release, and each further one from the "
    "same people adds its loss to it."
)
_NEGATIVE = re.compile(r"-[0-9.]+(e[0-9]+)?(,.*)?", re.IGNORECASE)


class PureCommand(BaseCommand):
    """Runs without database; what is wrong with its input is its error.

    Its --bbox may begin with a minus sign, as in -98.3,29.8,-97.3,31.0.
    """

    requires_system_checks = ()
    refusals: tuple[type[Exception], ...] = (ParameterError, ReaderError)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # argparse takes "-98.3" for a number but "-98.3,29.8" for an option; it has no public setting.
        parser._negative_number_matcher = _NEGATIVE
        return parser

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            self.run_on(options)
        except self.refusals as error:
            raise CommandError(_as_an_option(error, options)) from error
        except OSError as error:
            where = options.get("output") or error.filename
            raise CommandError(f"{where}: {error.strerror or error}") from error

    @abstractmethod
    def run_on(self, options: dict[str, Any]) -> None:
        """Runs the command. Errors: `refusals`, OSError."""

    def tell(
        self, options: dict[str, Any], result: object, lines: Iterable[str], *, notes: Iterable[str] = ()
    ) -> None:
        """Writes lines for people or, asked for, the result as one JSON object, with the notes on stderr."""
        as_json = options["json"]
        for note in notes:
            (self.stderr if as_json else self.stdout).write(note)
        for line in [json.dumps(result)] if as_json else lines:
            self.stdout.write(line)

    def say_left_out(self, rejected: int, first: Sequence[str]) -> None:
        if rejected:
            self.stderr.write(f"rows left out, no check-ins: {rejected}; the first: {'; '.join(first)}")


def _as_an_option(error: Exception, options: Mapping[str, Any]) -> str:
    """Words an error in the spelling that the command takes."""
    if isinstance(error, ParameterError) and "_" in error.parameter and error.parameter in options:
        option = f"--{error.parameter.replace('_', '-')}"
        return f"{option}{str(error).removeprefix(error.parameter)}"
    return str(error)


def add_files(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"check-ins: {FORMATS}")


def add_reading(parser: ArgumentParser) -> None:
    """Adds how files are read; `reading_options` takes it up."""
    add = parser.add_argument
    add(
        "--columns",
        default="",
        metavar="FIELD=COLUMN,…",
        help="a file's columns for user, time, lat, lon where they have other names: user=uid,lat=latitude",
    )
    add(
        "--max-rejected",
        default="",
        metavar="PERCENT",
        help="largest share of rows that are not check-ins (default 1)",
    )


def reading_options(options: dict[str, Any]) -> Options:
    """Parses how files are read. Errors: `ParameterError`."""
    return Options.parse(
        columns=options["columns"],
        max_rejected=options["max_rejected"],
        time_zone=options.get("time_zone", ""),
    )


def asked_epsilon(options: dict[str, Any]) -> Fraction:
    """Parses ε. Errors: `ParameterError`."""
    return exact_decimal("epsilon", options["epsilon"], low=0, low_open=True, high=settings.MAX_EPSILON)


def whole(name: str, text: str, *, low: int, high: int) -> int:
    """Parses an integer in a range. Errors: `ParameterError`."""
    number = exact_decimal(name, text, low=low, high=high)
    if number.denominator != 1:
        raise ParameterError(name, text, f"a whole number from {low} to {high}")
    return int(number)


def named_values(texts: Sequence[str]) -> dict[str, str]:
    """Parses parameters written as NAME=VALUE. Errors: `ParameterError`."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or name in values:
            raise ParameterError("parameter", text, "NAME=VALUE, each name once")
        values[name] = value
    return values
