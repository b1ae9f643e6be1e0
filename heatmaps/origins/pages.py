"""Holds what pages show of an origin: words, a tab and templates."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """Describes a tab of a dataset's pages."""

    name: str
    title: str
    address: str  # the name of its address


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionWords:
    """Words the rule of how old check-ins may be."""

    title: str
    without_rule: str
    label: str  # of the field of days
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Holds texts inside sentences of pages; whole parts of pages are templates (`Parts`)."""

    choice: str  # of this origin, for a new dataset
    step: str = "File"  # the second one to a first map
    first_data: str = "upload"  # what makes the first data version
    first_step: str = "Add data"
    joins: str = "to"  # between the first step and the dataset's title
    start: str = "No data yet. Start with a file of check-ins."
    version: str = "upload check-ins"  # what a steward has to do for the first data version
    sees: str = "This server sees the check-ins with every method."
    slow: str = ""  # why an answer takes its time; empty: it does not
    point: str = (
        "The mean of all people enrolled, each at the mean of their own check-ins. Points outside the region "
        "count on its border, people without check-ins at its centre."
    )
    retention: RetentionWords = RetentionWords(
        title="How long check-ins are kept",
        without_rule="for ever",
        label="Keep check-ins for",
        help="Public. Each data version deletes check-ins of earlier days (UTC). Empty: kept for ever.",
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """Names the templates of an origin; what its folder lacks is that of files.

    data: what stewards see of its data. facts: what everybody does. kept: how old check-ins may be, and
    retention: what a change of that does. empty: instead of a first map. restoration: opt-outs after a
    restore. new: fields of a new dataset. usual: what holds for one where nothing else is said.
    """

    origin: str

    def __getitem__(self, part: str) -> Sequence[str]:
        return [f"origins/{folder}/{part}.html" for folder in dict.fromkeys((self.origin, "files"))]
