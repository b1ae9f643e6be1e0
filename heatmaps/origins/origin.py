"""Says what every origin of check-ins answers, and where what it does is written.

Rooms above ask an origin; none of them asks which one it is. What needs those rooms is named here and loaded
when it is called.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

RunsOn: TypeAlias = Literal["stored", "devices"]
COLUMNS: Final = ("is_collection", "source")  # of a dataset: they say its origin


@dataclass(frozen=True, slots=True)
class Named:
    """A function of a room above, loaded when it is called."""

    path: str

    def __call__(self, *arguments: Any) -> Any:
        return self.load()(*arguments)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Says where check-ins come from, how they are read, and what may be asked of them."""

    filter: Q  # selects the datasets of this origin
    runs_on: RunsOn = "stored"  # which mechanisms of the catalogue draw from it
    task: str = "heatmaps.release"  # has a worker draw a release
    data_page: str = "datasets/checkins.html"  # what stewards see of the data
    first_data: str = "upload"  # what makes the first data version
    first_step: str = "Add data"
    joins: str = "to"  # between the first step and the dataset's title
    restored_opt_outs: str = ""  # what a confirmed restoration says of them; empty: a steward enters them

    # What it allows.
    takes_files: bool = False
    is_elsewhere: bool = False  # check-ins and opt-outs stay in their owner's tables
    is_asked: bool = True  # people ask for releases
    has_rounds: bool = False  # a steward plans rounds
    may_be_drawn_again: bool = False  # drawing takes no random number: whatever failed may begin again
    reads_before_election: bool = False  # reading fails without a charge being lost

    # Functions of a question.
    entry: Callable[..., Any] = Named("mechanisms.catalogue.registry.get")  # of a mechanism's name
    draw: Callable[..., Any] = Named("heatmaps.releases.readings.draw_for")  # of a dataset and `DrawTerms`

    # Functions of a release.
    result: Callable[..., Any] = Named("heatmaps.releases.engine.result_of")  # reads and draws
    question: Callable[..., str] = Named("heatmaps.releases.question.question_of")
    is_promise_kept: Callable[..., bool] = Named("heatmaps.releases.engine.is_kept")
    check_delta: Callable[..., None] = Named("heatmaps.releases.question.check_delta")
    is_ready: Callable[..., bool] = yes
    is_given_up: Callable[..., bool] = no  # and a moment: nothing will ever be read
    is_final: Callable[[type[Exception]], bool] = yes  # whether drawing again fails again

    # Functions of a dataset or a version.
    may_be_read: Callable[..., bool] = yes  # Errors: those of its room
    can_be_read: Callable[..., bool] = yes  # the same, False for every error
    has_times: Callable[..., bool] = yes

    unread: Q | None = None  # selects releases that have nothing to read yet; None: all have
    after_draw: Callable[[], None] = nothing
    appear: Callable[..., None] = nothing  # at a moment: data versions that wait for theirs
    sweeps: tuple[Callable[[], None], ...] = ()  # end and send again what nobody does; safe at any time

    def of(self, prefix: str) -> Q:
        """Selects rows by the dataset that they name."""
        return prefixed(self.filter, prefix)

    def slot_seconds(self, dataset: Any) -> float:
        """Returns how long a draw stays unseen, before slots are doubled."""
        raise NotImplementedError

    def has_place(self, dataset: Any, drawn: "QuerySet[Any]") -> bool:
        """Tells whether one more may be drawn now. drawn: what is spent, of this origin."""
        raise NotImplementedError

    def reader(self) -> str:
        """Returns the name of what reads masses and means in `heatmaps.masses`."""
        raise NotImplementedError


def prefixed(condition: Q, prefix: str) -> Q:
    """Returns the same condition on the columns of a relation."""
    result = Q(_connector=condition.connector, _negated=condition.negated)
    for child in condition.children:
        if isinstance(child, Q):
            result.children.append(prefixed(child, prefix))
        elif isinstance(child, tuple):
            result.children.append((f"{prefix}__{child[0]}", child[1]))
    return result
