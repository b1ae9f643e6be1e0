"""Accounts: to be found and read here. They are changed on the administrators' page of people, where the
rules hold: no dataset loses its last steward, and nobody chooses another person's password."""

from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.html import format_html

from heatmaps.admin.shared import Administrators


@admin.register(User)
class UserAdmin(Administrators):
    list_display = ("username", "is_active", "is_superuser", "last_login", "date_joined")
    list_filter = ("is_active", "is_superuser")
    search_fields = ("username",)
    sortable_by = ("username", "is_active", "is_superuser")
    ordering = ("username",)
    fields = ("username", "is_active", "is_superuser", "last_login", "date_joined", "change")

    @admin.display(description="change")
    def change(self, user: User) -> str:
        page = reverse("account-of", args=[user.pk])
        return format_html('<a href="{}">Close, allow, new password</a>', page)
