"""Datasets, their members, and their budgets."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from heatmaps.admin.shared import Administrators, ReadOnly
from heatmaps.models import Account, Dataset, DataVersion, Membership
from heatmaps.numbers import moment
from heatmaps.queries import NO_LIMIT, amount_text

if TYPE_CHECKING:  # a type parameter in the stubs only
    _TabularInline = admin.TabularInline[Membership, Dataset]
else:
    _TabularInline = admin.TabularInline


class MembershipInline(ReadOnly, _TabularInline):
    """Shows members, who change on the dataset's page of people, where each change is an event."""

    model = Membership
    extra = 0
    fields = readonly_fields = ("user", "role")
    can_delete = False


@admin.register(Dataset)
class DatasetAdmin(Administrators):
    """Shows public facts, which are fixed; members change on a page of their own."""

    dataset_path = "pk"
    list_display = ("slug", "title", "relation", "created_by", "is_demo")
    search_fields = ("slug", "title")
    sortable_by = ("slug", "title", "relation")
    fields = (
        "slug",
        "title",
        ("west", "south", "east", "north"),
        "relation",
        (*Dataset.STATED, "expected_persons"),
        ("schedule", "retention_days"),
        "embed_origins",
        ("created_by", "created_at", "is_demo"),
        "people",
    )
    inlines = (MembershipInline,)

    @admin.display(description="people")
    def people(self, dataset: Dataset) -> str:
        page = reverse("people", args=[dataset.slug])
        return format_html('<a href="{}">Invite, change or remove members</a>', page)


@admin.register(Account)
class AccountAdmin(Administrators):
    """Shows the budgets. A limit is changed on its own page, with a reason, as an event of the ledger."""

    dataset_path = "dataset"
    list_display = ("dataset", "kind", "limit_now", "committed_now", "change")
    list_filter = ("kind",)
    ordering = ("dataset", "kind")
    search_fields = ("dataset__slug", "dataset__title")
    list_select_related = ("dataset",)
    fields = ("dataset", "kind", "limit_now", "committed_now", "change")

    @admin.display(description="limit")
    def limit_now(self, account: Account) -> str:
        return amount_text(account.limit, account.kind, missing=NO_LIMIT)

    @admin.display(description="spent and reserved")
    def committed_now(self, account: Account) -> str:
        return amount_text(None if account.unbounded else account.committed, account.kind)

    @admin.display(description="change")
    def change(self, account: Account) -> str:
        page = reverse("limit-change", args=[account.dataset.slug, account.kind])
        return format_html('<a href="{}">Change the limit, with a reason</a>', page)


@admin.register(DataVersion)
class DataVersionAdmin(Administrators):
    dataset_path = "dataset"
    list_display = ("dataset", "number", "created_by", "since_minute", "kept_from")
    ordering = ("dataset", "-number")
    fields = ("dataset", "number", "created_by", "since_minute", "kept_from")
    search_fields = ("dataset__slug",)
    list_select_related = ("dataset", "created_by")

    @admin.display(description="since")
    def since_minute(self, version: DataVersion) -> str:
        # Not when a worker came to a version that was due.
        return moment(version.since)
