"""Words a release sheet: a headline, titled facts, and lists of sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from heatmaps.guides.release_sheets import NOT_FROM_THESE_PEOPLE
from heatmaps.result_kinds import kind_of_sheet
from heatmaps.wording.data_slice import PERIOD, box_words, period_words
from heatmaps.wording.guarantee import decimal
from heatmaps.wording.heatmap import GUIDE_FITS, SET_ASIDE
from heatmaps.wording.mechanisms import mechanism_title
from heatmaps.wording.parameters import value_words
from mechanisms.catalogue import registry
from mechanisms.devices import catalogue

_LOSSES: Final = {"add_remove": "presence", "replace": "whole record"}
_RELATIONS: Final = {
    "add_remove": "add or remove: a person is there or not",
    "replace": "replace: a person's record is exchanged for another",
}
_TRUST: Final = {
    "central": "the server that holds the check-ins",
    "shuffle": "a shuffler between the devices and the server",
    "local": "nobody: noise was added on each device",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetWords:
    """Words a sheet for a page, a picture or a file."""

    title: str
    headline: str
    facts: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]


def in_words(sheet: Mapping[str, Any]) -> SheetWords:
    """Puts a sheet into words. `sheet` is one of `heatmaps.exports.sheet.release_sheet`."""
    return SheetWords(title=sheet["title"], headline=headline(sheet), facts=facts(sheet), lists=_lists(sheet))


def headline(sheet: Mapping[str, Any]) -> str:
    """Returns "ε = 1 (presence), δ = 0", with all maps of the same data that it goes back to."""
    goes_back = ", with the maps it started from" if "together" in sheet else ""
    guide = sheet.get("guide", {})
    conditions = guide.get("conditions", [NOT_FROM_THESE_PEOPLE]) if guide.get("unchecked") else []
    only_if = f", if {' and '.join(conditions)}" if conditions else ""
    return f"{_losses(sheet, sheet.get('together', sheet))}{goes_back}{only_if}"


def citation(sheet: Mapping[str, Any], address: str) -> str:
    """Returns one line that names a release in a text: what, when, with which privacy loss, and where it is
    read."""
    return f"{sheet['title']}. Released {sheet['released']} with Hazemap, {headline(sheet)}. {address}"


def facts(sheet: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Returns (title, text), the most important first."""
    titles = _parameter_titles(sheet["mechanism"])
    own = [("Of this, of this map alone", _losses(sheet, sheet))] if "together" in sheet else []
    return (
        ("Privacy loss", headline(sheet)),
        *own,
        ("Relation", _RELATIONS[sheet["relation"]]),
        ("Trusted", _TRUST[sheet["trust"]]),
        ("Mechanism", _mechanism(sheet)),
        *_guide(sheet),
        *_collection(sheet),
        *((titles.get(name, name), value_words(name, value)) for name, value in sheet["parameters"].items()),
        ("Released", sheet["released"]),
        ("Region", box_words(sheet["region"])),
        *_data_slice(sheet),
        *kind_of_sheet(sheet).facts(sheet),
    )


def _mechanism(sheet: Mapping[str, Any]) -> str:
    """Names the mechanism with its version, where it has had several; sheets of before do not say it."""
    device_titles = {entry.name: entry.title for entry in catalogue.entries() if "collection" in sheet}
    name, version = sheet["mechanism"], sheet.get("mechanism_version", 1)
    title = device_titles.get(name) or mechanism_title(name)
    newest = [entry.version for entry in registry.entries() if entry.name == sheet["mechanism"]]
    return f"{title}, version {version}" if max([version, *newest]) > 1 else title


def _guide(sheet: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns lines about the guide; none where the map began without."""
    guide = sheet.get("guide")
    if guide is None:
        return []
    title = guide.get("title", "a file")  # of a command, which is told no title
    cost = f"ε {guide['epsilon']}" if "epsilon" in guide and "ε" not in title else ""
    citation_text = ", ".join(filter(None, [guide.get("source"), guide.get("licence")]))
    words = "; ".join(filter(None, [title, cost, citation_text]))
    fits = sheet.get(GUIDE_FITS, True)
    return [
        ("Started from", words),
        *([] if fits else [("Its fit", SET_ASIDE)]),
        *([("SHA-256 of the file", guide["file_sha256"])] if "file_sha256" in guide else []),
        ("SHA-256 of what was read", guide["sha256"]),
    ]


def _collection(sheet: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns lines about the collection; none where check-ins were uploaded."""
    collection = sheet.get("collection")
    if collection is None:
        return []
    page = [("SHA-384 of the page", collection["page_sha384"])] if collection["page_sha384"] else []
    return [
        ("Asked of people", collection["question"]),
        ("Shuffler", collection["shuffler_operator"]),
        ("Analyser", collection["analyser_operator"]),
        (
            "Round",
            f"{collection['round']}, {collection['opens_at'][:16]} to {collection['closes_at'][:16]} UTC",
        ),
        ("Reports", f"{collection['reports']} of {collection['invitations']} invitations"),
        ("SHA-256 of the round’s facts", collection["facts_sha256"]),
        *page,
    ]


def _losses(sheet: Mapping[str, Any], losses: Mapping[str, Any]) -> str:
    parts = [_loss(losses["epsilon"], _LOSSES[sheet["relation"]])]
    if sheet["radius_m"] is not None:
        parts.append(_loss(losses["radius_epsilon"], f"within {sheet['radius_m']} m"))
    return ", ".join([*parts, f"δ = {_readable(losses['delta'], digits=18)}"])


def _parameter_titles(mechanism: str) -> dict[str, str]:
    parameter_lists = [entry.parameters for entry in registry.entries() if entry.name == mechanism]
    parameter_lists += [entry.parameters for entry in catalogue.entries() if entry.name == mechanism]
    return {parameter.name: parameter.title for parameters in parameter_lists for parameter in parameters}


def _lists(sheet: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    together = [f"The unit of privacy is {sheet['unit_of_privacy']}."]
    together += [_sentence(sheet[name]) for name in ("users", "composition") if name in sheet]
    return (
        ("What is promised", (*sheet["statements"], *together)),
        ("What is not protected", tuple(map(_sentence, sheet["unprotected"]))),
        *_errors(sheet),
        *_afterwards(sheet),
    )


def _afterwards(sheet: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    done = tuple(map(_sentence, sheet["post_processing"]))
    return [("What was done after the noise", done)] if done else []


def _errors(sheet: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Returns the errors of values; nothing of sheets that were written before they said it."""
    sentences = tuple(map(_sentence, sheet.get("errors", ())))
    return [("How far off values are", sentences)] if sentences else []


def _loss(epsilon: str, unit: str) -> str:
    return f"ε has no bound ({unit})" if epsilon == "inf" else f"ε = {_readable(epsilon)} ({unit})"


def _readable(exact: str, *, digits: int = 12) -> str:
    """Writes an exact number of the sheet; a fraction, which nobody reads, as a decimal rounded up."""
    return decimal(Fraction(exact), digits=digits) if "/" in exact else exact


def _data_slice(sheet: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns lines about the data slice; none where all the data were asked about."""
    whole, period = sheet["part_of_region"], sheet["period"]
    lines = [] if whole is None else [("A part of the data’s region", box_words(whole))]
    return lines if period is None else [*lines, (PERIOD, period_words(period["since"], period["until"]))]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."
