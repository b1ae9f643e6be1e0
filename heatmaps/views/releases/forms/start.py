"""Asks what a new map starts from: a public map that fits the question, or nothing."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.guides import choices
from heatmaps.guides.choices import Chosen
from heatmaps.guides.epsilons import epsilons, in_words, persons_of, sizes
from heatmaps.models import Dataset
from heatmaps.numbers import UP, count, length
from heatmaps.regions import region_of
from heatmaps.releases import start_maps
from heatmaps.releases.request import ReleaseRequest
from heatmaps.wording.guides import option
from mechanisms.catalogue.registry import AnyEntry
from mechanisms.check import ParameterError, exact_decimal

NEWEST: Final = "newest"  # what is sent for: as the page proposes
NOTHING: Final = "none"
# Of an ε that goals of protection ask for.
GOES_BACK: Final = "Your goals are for one map, and with this start it tells what two do: choose Nothing."
UNFITTING: Final = "This does not cover exactly the same part: choose another start, or Nothing."


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Describes a select of starts, and which of them a question has."""

    dataset: Dataset
    offered: tuple[Chosen, ...] = ()
    guide: Chosen | None = None
    field_value: str = NEWEST
    is_proposed: bool = True  # by the page, not chosen by a person
    is_allowed: bool = False  # to start from one at the ε of the question
    refusal: str = ""  # of what a person chose

    @property
    def is_shown(self) -> bool:
        is_map = self.guide is not None or bool(self.refusal)
        return bool(self.offered and self.is_allowed) or (is_map and not self.is_proposed)

    @property
    def hidden_value(self) -> str:
        """Returns a person's choice, while the select is not shown; empty: nothing."""
        return "" if self.is_proposed or self.is_shown else self.field_value

    @property
    def value(self) -> str:
        """Returns the selection."""
        if self.refusal:
            return self.field_value
        return NOTHING if self.guide is None else str(self.guide.id)

    @property
    def options(self) -> list[tuple[str, str]]:
        own = [self.guide] if self.guide and self.guide not in self.offered else []
        pairs = [(str(guide.id), option(self.dataset, guide)) for guide in (*self.offered, *own)]
        if self.refusal and self.value not in dict(pairs):
            pairs.append((self.value, "Your choice"))
        return [*pairs, (NOTHING, "Nothing")]


def initial_start(dataset: Dataset, entry: AnyEntry, epsilon: str) -> Start:
    """Returns the start of an empty form."""
    if not entry.takes_guide:
        return Start(dataset=dataset)
    offered = tuple(choices.fitting(dataset, WHOLE))
    allowed = epsilons(dataset, entry.name, {})
    if not offered or not _is_in(allowed, epsilon):
        return Start(dataset=dataset, offered=offered)
    return Start(
        dataset=dataset, offered=offered, guide=start_maps.first_proposable(offered, None), is_allowed=True
    )


def submitted_start(dataset: Dataset, guide: str, proposed: str) -> Start:
    """Returns the start that a form names: `guide` is the select's value, `proposed` what the page had
    selected."""
    value = guide or NOTHING
    return Start(dataset=dataset, field_value=value, is_proposed=value in (NEWEST, proposed))


def start_for_question(
    start: Start, entry: AnyEntry, request: ReleaseRequest, looks_for_epsilon: bool
) -> Start:
    """Returns a filled form's start. Errors: `ParameterError` about the rest of the question."""
    if not entry.takes_guide:
        return start
    dataset = start.dataset
    region = region_of(dataset)
    data_slice = DataSlice.parse(
        region, since=request.since, until=request.until, rectangle=request.rectangle
    )
    offered = tuple(choices.fitting(dataset, data_slice))
    allowed = epsilons(dataset, entry.name, request.parameters)
    is_allowed = allowed is not None if looks_for_epsilon else _is_in(allowed, request.epsilon)
    start = replace(start, offered=offered, is_allowed=is_allowed)
    if start.is_proposed:
        return replace(start, guide=_proposed(dataset, request, start, looks_for_epsilon))
    if start.field_value == NOTHING:
        return start
    try:
        guide = choices.resolved(dataset, start.field_value, data_slice)
    except ParameterError:
        return replace(start, refusal=UNFITTING)
    return replace(start, guide=guide, refusal="" if is_allowed else _not_here(dataset, entry, request))


def too_exact(least_m: float) -> str:
    """Explains an error that the selected start allows at no ε."""
    return f"With this start the least is {length(least_m, rounding=UP)}: allow more, or start from Nothing."


def _proposed(
    dataset: Dataset, request: ReleaseRequest, start: Start, looks_for_epsilon: bool
) -> Chosen | None:
    if not start.is_allowed:
        return None
    if looks_for_epsilon:
        return start_maps.first_proposable(start.offered, request.resolution)
    return start_maps.proposed(dataset, request, start.offered)


def _is_in(allowed: tuple[Fraction, Fraction] | None, epsilon: str | Fraction) -> bool:
    try:
        return allowed is not None and allowed[0] <= exact_decimal("epsilon", epsilon) <= allowed[1]
    except ParameterError:
        return False


def _not_here(dataset: Dataset, entry: AnyEntry, request: ReleaseRequest) -> str:
    allowed = epsilons(dataset, entry.name, request.parameters)
    if allowed is not None:
        return f"This needs an {in_words(allowed)}: choose one, or Nothing."
    if persons_of(dataset, entry.name, request.parameters) is None:
        return "This needs a public number of people: choose Nothing."
    fewest, most = sizes(dataset)
    return f"This needs {count(fewest)} to {count(most)} people: choose Nothing."
