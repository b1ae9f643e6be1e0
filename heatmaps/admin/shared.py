"""Checks who may see the administration and what its addresses may ask."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse

from heatmaps.people.permissions import note_reads

# Django's classes take a type parameter in their stubs only.
if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class ShownOrder(ChangeList):
    """Sorts by the columns that are shown exactly, which an admin declares as `sortable_by`."""

    def get_ordering_field(self, field_name: Any) -> Any:
        # Django hides the link of another column, and sorts by it all the same when an address asks.
        return super().get_ordering_field(field_name) if field_name in (self.sortable_by or ()) else None


class ReadOnly:
    """Lets administrators read; nothing is added, changed or deleted."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_administrator(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Administrators(ReadOnly, _ModelAdmin):
    """Lets only administrators look at it; nothing is added, changed or deleted.

    An address may filter by the values of `list_filter` and sort by `sortable_by`, which are shown. Django
    takes any lookup of any column and its relations (`?password__regex=`), so that a list that is longer or
    shorter tells of what is not shown.
    """

    actions = None
    # From a row to the dataset it tells of, as a lookup; empty: to none.
    dataset_path: ClassVar[str] = ""
    show_facets = admin.ShowFacets.NEVER
    sortable_by: ClassVar[list[str] | tuple[str, ...] | None] = ()

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        filters = map(str, self.list_filter)
        return any(lookup in (name, f"{name}__exact", f"{name}__isnull") for name in filters)

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        return to_field == self.opts.pk.name

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ShownOrder

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        answer = super().changelist_view(request, extra_context)
        context = getattr(answer, "context_data", None) or {}  # a redirection has none
        if "cl" in context:
            self._note(request, [row.pk for row in context["cl"].result_list])
        return answer

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        record = super().get_object(request, object_id, from_field)
        if record is not None:
            self._note(request, [record.pk])
        return record

    def _note(self, request: HttpRequest, rows: list[Any]) -> None:
        if self.dataset_path and isinstance(request.user, User):
            datasets = self.model._default_manager.filter(pk__in=rows).values_list(
                self.dataset_path, flat=True
            )
            note_reads(request.user, datasets.order_by().distinct())

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return flatten_fieldsets(self.get_fieldsets(request, obj))


def no_such_page(_request: HttpRequest, **_kwargs: str) -> HttpResponse:
    """Answers 404 in place of Django's views that find rows of any table (autocomplete, "view on site")."""
    raise Http404("no such page")


def is_administrator(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)
