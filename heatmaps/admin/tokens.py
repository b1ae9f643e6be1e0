"""Lets administrators revoke API tokens; only a token's owner can create one."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from heatmaps.admin.shared import Administrators, is_administrator
from heatmaps.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(Administrators):
    """Shows tokens, which are revoked (deleted) here, never made or changed."""

    list_display = ("name", "user", "token_key", "scopes", "created", "expiry")
    search_fields = ("name", "user__username")
    ordering = ("-created", "token_key")  # else the digest, which is the key of the table, decides
    list_select_related = ("user",)
    fields = ("user", "name", "scopes", "token_key", "created", "expiry")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_administrator(request)
