"""Filters mechanisms by two plain questions: who is trusted, and what is to be protected."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from heatmaps.models import Dataset
from heatmaps.numbers import exact_length
from heatmaps.wording.guarantee import priced
from mechanisms.catalogue.registry import AnyEntry
from mechanisms.guarantee import Guarantee, Relation

Trusted: TypeAlias = Literal["server", "shuffler", "nobody"]
Protected: TypeAlias = Literal["record", "moves"]

TRUSTED: Final[tuple[tuple[Trusted, str], ...]] = (
    ("server", "This server"),
    ("shuffler", "Only a shuffler (simulated here)"),
    ("nobody", "Nobody: devices blur each place"),
)

USUAL: Final = "this server"  # sees what is not protected yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Filters mechanisms by somebody's answers; empty: anything fits."""

    trusted: str = ""
    protects: str = ""

    @property
    def any(self) -> bool:
        return bool(self.trusted or self.protects)

    def fit(self, entry: AnyEntry) -> bool:
        return self.trusted in ("", trusted(entry)) and self.protects in ("", protected(entry))


def trusted(entry: AnyEntry) -> Trusted:
    """Names the party that a mechanism was made to trust; simulated, it takes this server's word as well."""
    return "shuffler" if entry.usual_delta or entry.simulates_shuffling else "server"


def protected(entry: AnyEntry) -> Protected:
    """Names what a mechanism protects.

    Metric ones run under replace only: they protect short moves more than long ones.
    """
    return "moves" if entry.relations == {Relation.REPLACE} and not entry.flat else "record"


def protections(dataset: Dataset) -> tuple[tuple[Protected, str], ...]:
    """Lists what can be protected in a dataset."""
    if dataset.relation == Relation.ADD_REMOVE:
        return (("record", "That a person is in the data at all, with everything"),)
    near = exact_length(dataset.radius_m or 0)
    return (
        ("record", "All of a person’s check-ins"),
        ("moves", f"Where a person was: moves within {near} most, longer ones less"),
    )


def who(entry: AnyEntry) -> str:
    """Says who sees check-ins that are not protected yet."""
    if trusted(entry) == "shuffler":
        return "this server, which simulates a shuffler"
    if entry.simulates_devices:
        return "this server, which simulates devices"
    return USUAL


def with_shuffler(guarantee: Guarantee | None, dataset: Dataset) -> tuple[str, ...]:
    """Words the promise of the simulated protocol in earnest; nothing where none is."""
    if guarantee is None or guarantee.if_shuffler_fails is None or dataset.radius_m is None:
        return ()
    alone, near = guarantee.if_shuffler_fails, dataset.radius_m
    left = f"{priced(alone.loss(near), alone.delta)} within {exact_length(near)}"
    opening = "On people’s own devices the same protocol would promise as much without trust in this server"
    unless = "the shuffler does not collude with the reader. If it does, what is left is"
    return (f"{opening}, as long as {unless} {left}.",)
