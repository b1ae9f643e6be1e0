"""Shows the choice of a mechanism, in a form of releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django import forms

from heatmaps.models import Dataset
from heatmaps.result_kinds import RESULT_KINDS
from heatmaps.wording import mechanism_choice
from heatmaps.wording.mechanism_choice import Answers
from mechanisms.catalogue.registry import AnyEntry, Kind

KINDS: Final[Mapping[Kind, str]] = {kind.name: kind.choice for kind in RESULT_KINDS.values() if kind.choice}


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismFields:
    """Holds one mechanism of the form with the bound fields of its own parameters."""

    entry: AnyEntry
    is_selected: bool
    fits: bool  # what was said of trust and protection
    trusted: str
    protected: str
    who: str  # is trusted
    usual_epsilon: str  # that it opens with
    fields: tuple[forms.BoundField, ...]

    @property
    def line(self) -> str:
        """Returns the first sentence of what it does."""
        return self.entry.summary.split(". ")[0].removesuffix(".") + "."

    @property
    def is_set(self) -> bool:
        """Tells whether a parameter is other than it opens with, or refused."""
        return any(
            field.errors or (field.value() or None) not in (None, field.initial) for field in self.fields
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismGroup:
    """Holds mechanisms for one kind of result: those most people want, and the unusual ones, folded away."""

    title: str
    usual: tuple[MechanismFields, ...]
    unusual: tuple[MechanismFields, ...]
    opens: bool  # the selected one, or one that was asked for by an answer, is unusual


def groups(mechanisms: Sequence[MechanismFields], *, first: str, answers: Answers) -> list[MechanismGroup]:
    """Groups mechanisms by kind, the one of the name `first` before the rest."""
    by_kind = []
    for kind, title in KINDS.items():
        own = sorted(
            (fields for fields in mechanisms if fields.entry.kind == kind),
            key=lambda fields: fields.entry.name != first,
        )
        unusual = tuple(fields for fields in own if fields.entry.aside)
        opens = any(fields.is_selected or (answers.any and fields.fits) for fields in unusual)
        usual = tuple(fields for fields in own if not fields.entry.aside)
        by_kind += [MechanismGroup(title=title, usual=usual, unusual=unusual, opens=opens)] if own else []
    return by_kind


def questions(dataset: Dataset, answers: Answers) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
    """Returns (name, question, [(value, words, whether it is selected)]) of who is trusted and what is to be
    protected."""
    protections = mechanism_choice.protections(dataset)
    rows = (
        ("trusted", "Who may be trusted?", mechanism_choice.TRUSTED, answers.trusted),
        ("protects", "What has to be protected?", protections, answers.protects),
    )
    return [
        (name, question, [(value, text, value == answer) for value, text in offered])
        for name, question, offered, answer in rows
    ]
