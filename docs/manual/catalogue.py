"""Writes the manual's tables of mechanisms: what there is, what it needs, and what was measured."""

from collections.abc import Iterable

from docs.manual.measured import sections
from docs.manual.reference import plain, table
from mechanisms.catalogue import local, registry
from mechanisms.catalogue.entries import AnyEntry, Parameter
from mechanisms.devices import catalogue as devices
from mechanisms.guarantee import Relation

KINDS = {
    "heatmap": "Maps",
    "centroid": "Central points",
    "zones": "Shares in zones",
    "distances": "Mean distances",
}


def parts() -> dict[str, str]:
    return {
        "mechanisms": mechanisms(registry.entries()),
        "device mechanisms": device_mechanisms(),
        "nearest maps": nearest_maps(),
    }


def mechanisms(entries: Iterable[AnyEntry]) -> str:
    """A table for each kind of result, and one of all parameters."""
    listed = tuple(entries)
    tables = [
        f"### {title}\n\n{_of_kind(entry for entry in listed if entry.kind == kind)}"
        for kind, title in KINDS.items()
    ]
    return "\n\n".join([*tables, f"### Parameters\n\n{_parameters(listed)}"])


def device_mechanisms() -> str:
    rounds = [
        (f"`{entry.name}`", plain(entry.title), entry.trust.value, plain(entry.summary))
        for entry in devices.entries()
    ]
    files = [(f"`{entry.name}`", plain(entry.title), plain(entry.summary)) for entry in local.entries()]
    return (
        f"{table(('in a round', 'title', 'trust', 'what it does'), rounds)}\n\n"
        f"{table(('of a file', 'title', 'what it does'), files)}"
    )


def nearest_maps() -> str:
    """Which mechanism made the nearest map, by people and ε, with its error."""
    first, *_ = sections()
    told = " ".join(first.sentences)
    numbers = first.choices
    return told if numbers is None else f"{told}\n\n{table(numbers.heads, numbers.rows)}"


def _of_kind(entries: Iterable[AnyEntry]) -> str:
    rows = [
        (f"`{entry.name}`", plain(entry.title), _relations(entry), _delta(entry), plain(entry.summary))
        for entry in entries
    ]
    return table(("name", "title", "datasets", "δ", "what it does"), rows)


def _relations(entry: AnyEntry) -> str:
    return "both" if len(entry.relations) == len(Relation) else f"`{min(entry.relations).value}`"


def _delta(entry: AnyEntry) -> str:
    return entry.usual_delta or "0"


def _parameters(entries: Iterable[AnyEntry]) -> str:
    rows: dict[Parameter, list[str]] = {}
    for entry in entries:
        for parameter in entry.parameters:
            rows.setdefault(parameter, []).append(f"`{entry.name}`")
    return table(
        ("parameter", "of", "meaning"),
        [(f"`{one.name}`", ", ".join(names), _meaning(one)) for one, names in rows.items()],
    )


def _meaning(parameter: Parameter) -> str:
    allowed = f" From {parameter.low} to {parameter.high}." if parameter.high else ""
    usual = f" Without it: {parameter.default}." if parameter.default else ""
    return plain(f"{parameter.title}. {parameter.help}{allowed}{usual}")
