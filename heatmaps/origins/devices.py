"""Gathers reports of people's devices: they blur before they send, in rounds that a steward plans."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from django.conf import settings
from django.db.models import Q, QuerySet

from heatmaps.origins.origin import Named, Origin, nothing, yes
from heatmaps.origins.pages import Tab, Words

ONLY_DEVICES: Final = (
    "this dataset is a collection: people's devices fill it in rounds, and each round gives one result"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices(Origin):
    """Draws a round by its devices: reading their reports takes no place of a draw."""

    def slot_seconds(self, dataset: Any) -> float:
        seconds: float = settings.SLOT_SECONDS[dataset.row_capacity]
        return seconds

    def has_place(self, dataset: Any, spent: "QuerySet[Any]") -> bool:  # noqa: ARG002 - there is always one
        return True

    def reader(self) -> str:
        raise NotImplementedError("a round is read by its own analysis")


def no_users(*_arguments: object) -> str:
    """Answers where no names of users arrive."""
    return ""


DEVICES: Final = Devices(
    name="devices",
    filter=Q(is_collection=True),
    words=Words(
        choice="From people’s devices",
        point="The mean of the places of all reports; places outside the region count on its border.",
    ),
    runs_on="devices",
    relations=("replace",),  # who takes part is known
    usual_delta="0.0001",  # methods with a shuffler need some
    tab=Tab(name="rounds", title="Rounds", address="dataset-rounds"),
    refused_acts=dict.fromkeys(("upload", "release", "keep_guides"), ONLY_DEVICES),
    restored_opt_outs="none: people's devices take part by themselves",
    may_be_drawn_again=True,
    has_fixed_moments=True,
    entry=Named("mechanisms.devices.catalogue.get"),
    draw=Named("heatmaps.collections.round_draws.draw_for"),
    result=Named("heatmaps.collections.analysis.result_of"),
    question=Named("heatmaps.collections.round_draws.stored_question"),
    # Of a round, which may have reports, only whoever reads it asks.
    is_promise_kept=yes,
    check_delta=nothing,
    check_chain=Named("heatmaps.releases.payment.check_round_of"),
    is_ready=Named("heatmaps.collections.rounds.has_batch"),
    is_given_up=Named("heatmaps.collections.rounds.is_given_up"),
    is_final=Named("heatmaps.collections.analysis.is_final"),
    sentences=Named("heatmaps.wording.collection.sentences"),
    sheet=Named("heatmaps.wording.collection.sheet_facts"),
    collection=attrgetter("collection"),
    facts=Named("heatmaps.ledger.facts.collection_facts"),
    users=no_users,
    unread=Q(round__reports=None),
    after_draw=Named("heatmaps.collections.handover.forget_ended"),
    sweeps=(Named("heatmaps.collections.handover.forget_ended"),),
)
