"""The choice of a mechanism, as a form of releases shows it."""

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
    """One mechanism of the form with the bound fields of its own parameters."""

    entry: AnyEntry
    chosen: bool
    fits: bool  # what was said of trust and protection
    trusted: str
    protected: str
    who: str  # is trusted
    usual_epsilon: str  # that it opens with
    fields: tuple[forms.BoundField, ...]

    @property
    def line(self) -> str:
        """The first sentence of what it does."""
        return self.entry.summary.split(". ")[0].removesuffix(".") + "."

    @property
    def is_set(self) -> bool:
        """Whether a parameter is other than it opens with, or refused."""
        return any(
            field.errors or (field.value() or None) not in (None, field.initial) for field in self.fields
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Mechanisms for one kind of result: those most people want, and the others, folded away."""

    title: str
    usual: tuple[MechanismFields, ...]
    others: tuple[MechanismFields, ...]
    opens: bool  # the chosen one, or one that was asked for by an answer, is among the others


def groups(mechanisms: Sequence[MechanismFields], *, first: str, answers: Answers) -> list[Group]:
    """By kind, the mechanism of the name `first` before the rest."""
    made = []
    for kind, title in KINDS.items():
        own = sorted(
            (one for one in mechanisms if one.entry.kind == kind), key=lambda one: one.entry.name != first
        )
        others = tuple(one for one in own if one.entry.aside)
        opens = any(one.chosen or (answers.any and one.fits) for one in others)
        usual = tuple(one for one in own if not one.entry.aside)
        made += [Group(title=title, usual=usual, others=others, opens=opens)] if own else []
    return made


def questions(dataset: Dataset, answers: Answers) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
    """(name, question, [(value, words, chosen)]) of who is trusted and what is to be protected."""
    protections = mechanism_choice.protections(dataset)
    asked = (
        ("trusted", "Who may be trusted?", mechanism_choice.TRUSTED, answers.trusted),
        ("protects", "What has to be protected?", protections, answers.protects),
    )
    return [
        (name, question, [(value, text, value == chosen) for value, text in offered])
        for name, question, offered, chosen in asked
    ]
