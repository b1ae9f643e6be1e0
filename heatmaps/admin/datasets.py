"""Datasets, their members, and their budgets."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from heatmaps.admin.shared import Administrators, is_administrator
from heatmaps.models import Account, Dataset, DataVersion, Membership
from heatmaps.queries import NO_LIMIT, amount_text

if TYPE_CHECKING:  # a type parameter in the stubs only
    _TabularInline = admin.TabularInline[Membership, Dataset]
else:
    _TabularInline = admin.TabularInline


class MembershipInline(_TabularInline):
    """To be read: members change on the dataset's page of people, where each change is an event."""

    model = Membership
    extra = 0
    fields = readonly_fields = ("user", "role")
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_administrator(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Dataset)
class DatasetAdmin(Administrators):
    """Public facts are fixed; members change on a page of their own."""

    list_display = ("slug", "title", "relation", "created_by", "is_demo")
    search_fields = ("slug", "title")
    fields = (
        "slug",
        "title",
        ("west", "south", "east", "north"),
        "relation",
        ("persons", "radius_m", "expected_persons"),
        ("schedule", "retention_days"),
        ("created_by", "created_at", "is_demo"),
        "people",
    )
    readonly_fields = (
        *("slug", "title", "west", "south", "east", "north", "relation"),
        *("persons", "radius_m", "expected_persons", "schedule", "retention_days"),
        *("created_by", "created_at", "is_demo", "people"),
    )
    inlines = (MembershipInline,)

    @admin.display(description="people")
    def people(self, dataset: Dataset) -> str:
        page = reverse("people", args=[dataset.slug])
        return format_html('<a href="{}">Invite, change or remove members</a>', page)


@admin.register(Account)
class AccountAdmin(Administrators):
    """The budgets. A limit is changed on its own page, with a reason, as an event of the ledger."""

    list_display = ("dataset", "kind", "limit_now", "committed_now", "change")
    list_filter = ("kind",)
    search_fields = ("dataset__slug", "dataset__title")
    list_select_related = ("dataset",)
    fields = ("dataset", "kind", "limit_now", "committed_now", "change")
    readonly_fields = fields

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
    list_display = ("dataset", "number", "created_by", "created_at", "kept_from")
    search_fields = ("dataset__slug",)
    list_select_related = ("dataset", "created_by")
