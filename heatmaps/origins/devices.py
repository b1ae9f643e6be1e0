"""Reports of people's devices: they blur before they send, in rounds that a steward plans."""

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Q, QuerySet

from heatmaps.origins.origin import Named, Origin, nothing, yes


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices(Origin):
    """A round is drawn by its devices: reading their reports takes no place of a draw."""

    def slot_seconds(self, dataset: Any) -> float:
        seconds: float = settings.SLOT_SECONDS[dataset.row_capacity]
        return seconds

    def has_place(self, dataset: Any, drawn: "QuerySet[Any]") -> bool:  # noqa: ARG002 - there is always one
        return True

    def reader(self) -> str:
        raise NotImplementedError("a round is read by its own analysis")


DEVICES: Final = Devices(
    filter=Q(is_collection=True),
    runs_on="devices",
    restored_opt_outs="none: people's devices take part by themselves",
    is_asked=False,
    has_rounds=True,
    may_be_drawn_again=True,
    entry=Named("mechanisms.devices.catalogue.get"),
    draw=Named("heatmaps.collections.round_draws.draw_for"),
    result=Named("heatmaps.collections.analysis.result_of"),
    question=Named("heatmaps.collections.round_draws.stored_question"),
    # Of a round, which may have reports, only whoever reads it asks.
    is_promise_kept=yes,
    check_delta=nothing,
    is_ready=Named("heatmaps.collections.rounds.has_batch"),
    is_given_up=Named("heatmaps.collections.rounds.is_given_up"),
    is_final=Named("heatmaps.collections.analysis.is_final"),
    unread=Q(round__reports=None),
    after_draw=Named("heatmaps.collections.handover.forget_ended"),
    sweeps=(Named("heatmaps.collections.handover.forget_ended"),),
)
