"""Says what every origin of check-ins answers, and where what it does is written.

Rooms above ask an origin; none of them asks which one it is. What needs those rooms is named here and loaded
when it is called.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from heatmaps.origins.pages import Parts, Tab, Words

ONLY_ROUNDS: Final = "this dataset is filled by uploads; only a collection has rounds"


@dataclass(frozen=True, slots=True)
class Named:
    """Loads a function of a room above when it is called."""

    path: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.load()(*arguments, **options)

    def load(self) -> Callable[..., Any]:
        function: Callable[..., Any] = import_string(self.path)
        return function


def yes(*_arguments: object) -> bool:
    """Answers where an origin has nothing to check."""
    return True


def no(*_arguments: object) -> bool:
    """Answers where nothing of that sort happens to an origin."""
    return False


def nothing(*_arguments: object) -> None:
    """Does nothing: there is nothing to do."""


def no_facts(*_arguments: object) -> dict[str, Any]:
    """Answers where an origin adds no facts of its own."""
    return {}


def no_sentences(*_arguments: object) -> tuple[str, ...]:
    """Answers where an origin has nothing more to say."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Says which mechanisms draw from an origin, how finely, and why others do not."""

    reads: frozenset[str] | None = None  # what its readers give (`Entry.reads`); None: all
    finest: int | None = None  # cells a side at most; None: as many as a mechanism has
    other_mechanism: str = ""  # what is allowed instead of one that reads anything else
    finer: str = ""  # why no finer cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin(ABC):
    """Says where check-ins come from, how they are read, and what may be asked of them.

    A subclass that lacks a method cannot be made: its module fails when it is imported.
    """

    name: str  # of its choice in forms, and of its folder in `templates/origins`
    filter: Q  # selects the datasets of this origin
    words: Words
    runs_on: str = "stored"  # draws from it those entries of the catalogue (`Entry.runs_on`)
    offer: Offer = Offer()
    task: str = "heatmaps.release"  # has a worker draw a release
    relations: tuple[str, ...] = ("add_remove", "replace")  # of its datasets
    has_size_class: bool = True  # how long draws take depends on how many check-ins may be stored
    usual_delta: str = "0"  # the limit of δ where nobody says one
    tab: Tab | None = None  # a page of its own, where its data come from
    scripts: tuple[str, ...] = ()  # of the page on which data are added
    # Acts that make no sense for it, by their name in `heatmaps.people.permissions`, and why.
    refused_acts: Mapping[str, str] = field(default_factory=lambda: {"plan_rounds": ONLY_ROUNDS})
    # Why files and opt-outs are not entered here, where `{source}` is what a dataset reads; empty: they are.
    refused_files: str = ""
    refused_opt_outs: str = ""
    restored_opt_outs: str = ""  # what a confirmed restoration says of them; empty: a steward enters them

    # Privacy decisions: the rooms that elect and tell outcomes branch on them.
    may_be_drawn_again: bool = False  # drawing takes no random number: whatever failed may begin again
    has_fixed_moments: bool = False  # devices were told when it opens and closes: no slot moves it
    has_tables_of_versions: bool = False  # one version's commitment covers no other: each has its own tables

    # Functions of a question.
    entry: Callable[..., Any] = Named("mechanisms.catalogue.registry.get")  # of a mechanism's name
    draw: Callable[..., Any] = Named("heatmaps.releases.readings.draw_for")  # of a dataset and `DrawTerms`

    # Functions of a release.
    run: Callable[..., None] = Named("heatmaps.releases.lifecycle.run_elected")  # draws, as elected
    result: Callable[..., Any] = Named("heatmaps.releases.engine.result_of")  # reads and draws
    question: Callable[..., str] = Named("heatmaps.releases.question.question_of")
    is_promise_kept: Callable[..., bool] = Named("heatmaps.releases.engine.is_kept")
    check_delta: Callable[..., None] = Named("heatmaps.releases.question.check_delta")
    check_chain: Callable[..., None] = nothing  # and its dataset's replayed events
    is_ready: Callable[..., bool] = yes
    is_given_up: Callable[..., bool] = no  # and a moment: nothing will ever be read
    is_final: Callable[[type[Exception]], bool] = yes  # whether drawing again fails again
    sentences: Callable[..., tuple[str, ...]] = no_sentences  # beside the promise
    sheet: Callable[..., dict[str, Any] | None] = nothing  # what a release sheet says of its collection

    # Functions of a dataset or a version.
    collection: Callable[..., Any] = nothing  # who takes which part in its rounds
    facts: Callable[..., dict[str, Any]] = no_facts  # beyond those of every dataset, in its first event
    users: Callable[..., str] = Named("heatmaps.wording.person_hashes.told_apart")
    may_be_read: Callable[..., bool] = yes  # Errors: those of its room
    can_be_read: Callable[..., bool] = yes  # the same, False for every error
    has_times: Callable[..., bool] = yes
    check_retention: Callable[..., None] = nothing  # whether check-ins can be left out by their age
    advance: Callable[..., Any] = Named("heatmaps.ingest.uploads.advance")  # for a person: the next version
    next_version: Callable[..., Any] = Named("heatmaps.ingest.versions.advance.next_version")
    check_restored: Callable[..., None] = nothing  # a restoration that a steward is about to confirm
    renew_restored: Callable[..., None] = nothing  # its dataset, once a steward confirmed
    data_context: Callable[..., dict[str, Any]] = Named("heatmaps.views.dataset.data.files_context")

    unread: Q | None = None  # selects releases that have nothing to read yet; None: all have
    after_draw: Callable[[], None] = nothing
    appear: Callable[..., None] = nothing  # at a moment: data versions that wait for theirs
    sweeps: tuple[Callable[[], None], ...] = ()  # end and send again what nobody does; safe at any time

    @property
    def is_asked(self) -> bool:
        """Tells whether people ask for releases."""
        return "release" not in self.refused_acts

    @property
    def parts(self) -> Parts:
        """Returns the names of templates that show it, by what they show."""
        return Parts(self.name)

    def of(self, prefix: str) -> Q:
        """Selects rows by the dataset that they name."""
        return prefixed(self.filter, prefix)

    @abstractmethod
    def slot_seconds(self, dataset: Any) -> float:
        """Returns the seconds for which a draw stays unseen, before slots are doubled."""

    @abstractmethod
    def has_place(self, dataset: Any, spent: "QuerySet[Any]") -> bool:
        """Tells whether one more may be drawn now. spent: what is spent, of this origin."""

    @abstractmethod
    def reader(self) -> str:
        """Returns the name of what reads masses and means in `heatmaps.masses`."""


def prefixed(condition: Q, prefix: str) -> Q:
    """Returns the same condition on the columns of a relation."""
    result = Q(_connector=condition.connector, _negated=condition.negated)
    for child in condition.children:
        if isinstance(child, Q):
            result.children.append(prefixed(child, prefix))
        elif isinstance(child, tuple):
            result.children.append((f"{prefix}__{child[0]}", child[1]))
    return result
