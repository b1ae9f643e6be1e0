"""Writes the manual's tables and charts of growing cost, all of them from `growth.json` (`make growth`)."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.template.loader import render_to_string

from docs.manual.measured import Picture
from docs.manual.measurements import drawing, legend
from docs.manual.reference import plain, table
from heatmaps.numbers import count, number, size

FILE: Final = Path(__file__).with_name("growth.json")
_KINDS: Final = {"csv": "CSV", "parquet": "Parquet"}
_DATABASES: Final = ("SQLite", "PostgreSQL")
_SIZES: Final = tuple(10**power for power in range(5, 11))
_MOST_EMBEDDED: Final = 10**6  # check-ins of one dataset that SQLite is proposed for
_MOST_STORED: Final = 10**8  # of one dataset on PostgreSQL: `RowCapacity.HUGE`
# Measured before, at 10^8 check-ins: docs/how-to/lake.md, docs/how-to/deployment.md.
_LAKE_SECONDS: Final = 6e-6  # of a processor, a check-in
_LAKE_START: Final = 30.0
_MEMORY: Final = {10**5: 2, 10**6: 2, 10**7: 4, 10**8: 8}  # GB of a machine with everything on it


def parts() -> dict[str, str]:
    """Returns the generated parts by the name that a page asks for."""
    return {
        "growth charts": charts(),
        "growth by people": by_people(),
        "growth by resolution": by_resolution(),
        "growth by releases": by_releases(),
        "growth of databases": databases(),
        "growth planned": planned(),
        "speed goals": goals(),
        "growth measured": measured_on(),
    }


@cache
def document() -> dict[str, Any]:
    contents: dict[str, Any] = json.loads(FILE.read_text())
    return contents


def charts() -> str:
    """Two charts by check-ins, seconds and memory, and their numbers."""
    rows = document()["rows"]
    titles = {"seconds": "Time of a processor", "megabytes": "Memory"}
    pictures = [
        Picture(
            title=title,
            x="check-ins",
            y=measure,
            lines={
                name: tuple((row["check-ins"], row[f"{kind} {measure}"]) for row in rows)
                for kind, name in _KINDS.items()
            },
            logarithmic=(True, True),
        )
        for measure, title in titles.items()
    ]
    kinds = {name: 1 + number for number, name in enumerate(_KINDS.values())}
    drawn = "".join(
        " ".join(render_to_string("parts/chart.html", {"chart": drawing(picture, kinds)}).split())
        for picture in pictures
    )
    heads = (
        "check-ins",
        *(f"{name}: {what}" for name in _KINDS.values() for what in ("processor", "memory")),
    )
    numbers = table(
        heads,
        [
            (
                count(row["check-ins"]),
                *(
                    cell
                    for kind in _KINDS
                    for cell in (seconds(row[f"{kind} seconds"]), _megabytes(row[f"{kind} megabytes"]))
                ),
            )
            for row in rows
        ],
    )
    return f'<div class="charts">{drawn}</div>\n\n{legend(kinds)}\n\n{numbers}'


def by_people() -> str:
    rows = document()["people"]
    return table(
        ("people of as many check-ins", "processor", "memory"),
        [
            (
                f"{count(row['people'])} of {count(row['check-ins'])}",
                seconds(row["csv seconds"]),
                _megabytes(row["csv megabytes"]),
            )
            for row in rows
        ],
    )


def by_resolution() -> str:
    """Releases of `adaptive`: by squares a side, and by the people that are expected."""
    finer = [
        (f"{count(row['cells a side'])} squares a side", seconds(row["seconds"]))
        for row in _of("resolutions")
    ]
    guessed = [
        (f"{count(row['people expected'])} people expected", seconds(row["seconds"]))
        for row in _of("guesses")
    ]
    return table(("a release of `adaptive`", "processor"), [*finer, *guessed])


def by_releases() -> str:
    return table(
        ("page", "processor", "beside", "its processor"),
        [
            (plain(row["page"]), seconds(row["seconds"]), plain(row["few"]), seconds(row["few seconds"]))
            for row in _of("pages")
        ],
    )


def databases() -> str:
    """What an upload takes of the processor, and what a check-in takes on disk."""
    return table(
        ("database", "an upload of", "processor", "server at most", "a check-in on disk"),
        [
            (
                _DATABASES[row["postgresql"]],
                count(row["check-ins"]),
                seconds(row["seconds"]),
                _megabytes(row["megabytes"]),
                _bytes(row),
            )
            for row in _of("servers")
        ],
    )


def planned() -> str:
    """What to plan for each number of check-ins; what was not measured follows from the largest that was."""
    heads = ("check-ins", "where", "memory of the machine", "disk", "to take them in", "a map from a file")
    return table(heads, [_plan(checkins) for checkins in _SIZES])


def _plan(checkins: int) -> Sequence[str]:
    if checkins > _MOST_STORED:
        processor = seconds(_LAKE_START + _LAKE_SECONDS * checkins)
        return (
            _power(checkins),
            "[your lake, summed by Spark](lake.md)",
            "1.6 GB an executor, 2 GB for Hazemap",
            "none of its own",
            f"nothing to take in; a map about {processor} of processors",
            "",
        )
    row = _of("servers")[0 if checkins <= _MOST_EMBEDDED else -1]
    bytes_each = row["bytes"] + row["bytes of copies"]
    return (
        _power(checkins),
        f"one machine, {_DATABASES[row['postgresql']]}",
        f"{_MEMORY[checkins]} GB",
        size(round(checkins * bytes_each)),
        seconds(checkins * row["seconds"] / row["check-ins"]),
        _from_file(checkins),
    )


def _from_file(checkins: int) -> str:
    """Words what was measured, or what follows from the two largest: the start is paid once."""
    rows = {row["check-ins"]: row for row in _of("rows")}
    if checkins in rows:
        return f"{seconds(rows[checkins]['csv seconds'])}, {_megabytes(rows[checkins]['csv megabytes'])}"
    fewer, more = sorted(rows)[-2:]
    times = (checkins - more) / (more - fewer)
    processor, memory = (
        rows[more][name] + times * (rows[more][name] - rows[fewer][name])
        for name in ("csv seconds", "csv megabytes")
    )
    return f"about {seconds(processor)}, {_megabytes(memory)}"


def goals() -> str:
    """Every figure that `make bench` holds to a goal, beside it."""
    return table(
        ("what", "beside", "measured", "times", "at most"),
        [
            (
                plain(row["name"]),
                plain(row["alternative"]),
                _measured(row["measured"], row["unit"]),
                f"{_digits(row['ratio'])}{_noise(row)}",
                _digits(row["most"]),
            )
            for row in _of("goals")
        ],
    )


def measured_on() -> str:
    """When and on what it was measured, as one sentence."""
    kept = document()
    return (
        f"Measured on {kept['at']} by `make growth`, servers, pages and goals on {kept['bench_at']} by "
        f"`make bench`: {kept['machine']}, {_digits(kept['load'])} processes waiting or running beside."
    )


def seconds(value: float) -> str:
    """Words processor time in the unit that fits."""
    if value < 1:
        return f"{_digits(1000 * value)} ms"
    if value < 100:
        return f"{_digits(value)} s"
    return f"{_digits(value / 60)} min" if value < 6000 else f"{_digits(value / 3600)} h"


def _measured(value: float, unit: str) -> str:
    if unit == "s":
        return seconds(value)
    return _megabytes(value) if unit == "MB" else f"{_digits(value)} {unit}"


def _of(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = document()[name]
    return rows


def _noise(row: Mapping[str, Any]) -> str:
    low, high = row["low"], row["high"]
    return "" if low == high else f" ({_digits(low)} to {_digits(high)})"


def _bytes(row: Mapping[str, Any]) -> str:
    copies = f", {_digits(row['bytes of copies'])} of a copy in columns" if row["bytes of copies"] else ""
    return f"{_digits(row['bytes'])} bytes{copies}"


def _megabytes(value: float) -> str:
    return f"{_digits(value)} MB" if value < 1000 else f"{_digits(value / 1000)} GB"


def _power(value: int) -> str:
    return f"10^{len(str(value)) - 1}"


def _digits(value: float) -> str:
    return number(value, digits=2 if value < 100 else 3)
