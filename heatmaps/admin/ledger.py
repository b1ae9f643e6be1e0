"""Shows the ledger in the administration, read-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from heatmaps.admin.shared import Administrators
from heatmaps.ledger.reading import moment, shown_hash
from heatmaps.models import Charge, Event, Release, ReleaseState, Result
from heatmaps.models.fraction_field import fraction_text
from heatmaps.queries import amount_text
from heatmaps.wording.events import TITLES


@admin.register(Release)
class ReleaseAdmin(Administrators):
    dataset_path = "dataset"
    list_display = ("id", "dataset", "mechanism", "state_now", "requested_by", "requested_at")
    list_filter = ("mechanism",)
    search_fields = ("id", "dataset__slug")
    list_select_related = ("dataset", "requested_by")
    fields = (
        *("id", "dataset", "version", "requested_by", "requested_at", "state_now"),
        *("mechanism", "exact_epsilon", "resolution", "parameters", "guarantee", "question"),
    )

    @admin.display(description="epsilon")
    def exact_epsilon(self, release: Release) -> str:
        return fraction_text(release.epsilon)

    @admin.display(description="state")
    def state_now(self, release: Release) -> str:
        return release.public_state


@admin.register(Charge)
class ChargeAdmin(Administrators):
    dataset_path = "release__dataset"
    list_display = ("release", "account", "exact_amount")
    search_fields = ("release__id",)
    list_select_related = ("release", "account")
    fields = ("release", "account", "exact_amount")

    @admin.display(description="amount")
    def exact_amount(self, charge: Charge) -> str:
        return amount_text(charge.amount, charge.account.kind)


@admin.register(Result)
class ResultAdmin(Administrators):
    dataset_path = "release__dataset"
    list_display = ("release", "sha256")
    search_fields = ("release__id", "sha256")
    fields = ("release", "sha256")

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request).filter(release__state=ReleaseState.PUBLISHED)
        return rows.defer("content")


@admin.register(Event)
class EventAdmin(Administrators):
    """Shows the chain; times to the minute, as on the ledger's page for those who are no stewards."""

    dataset_path = "dataset"
    list_display = ("sequence", "dataset", "at", "what", "actor")
    list_filter = ("kind",)
    search_fields = ("dataset__slug", "release")
    list_select_related = ("dataset", "actor")
    ordering = ("dataset", "-sequence")
    fields = (
        "dataset",
        "sequence",
        "at",
        "what",
        "actor",
        "release",
        "before",
        "after",
        "kept_hash",
    )

    @admin.display(description="when (UTC)")
    def at(self, event: Event) -> str:
        return moment(event, sees_data=False)

    @admin.display(description="hash")
    def kept_hash(self, event: Event) -> str:
        return shown_hash(event, sees_data=False)

    @admin.display(description="what")
    def what(self, event: Event) -> str:
        return TITLES.get(event.kind, event.kind)
