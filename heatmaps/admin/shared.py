"""Who may look at what the administration shows."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

# Django's classes take a type parameter in their stubs only.
if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class Administrators(_ModelAdmin):
    """Only administrators look at it; nothing is added, changed or deleted."""

    actions = None

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_administrator(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def is_administrator(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)
