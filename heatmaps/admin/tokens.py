"""API tokens: made and revoked by administrators; the secret is shown once."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from heatmaps.admin.shared import Administrators, is_administrator
from heatmaps.models import ApiToken, Scope

if TYPE_CHECKING:  # a type parameter in the stubs only
    _ModelForm = forms.ModelForm[ApiToken]
else:
    _ModelForm = forms.ModelForm


class TokenForm(_ModelForm):
    """A new token; its secret is made when it is saved."""

    scopes = forms.MultipleChoiceField(choices=Scope.choices, widget=forms.CheckboxSelectMultiple)
    days = forms.IntegerField(
        min_value=1,
        max_value=3650,
        required=False,
        help_text="Valid for so many days; empty: until it is deleted.",
    )

    class Meta:
        model = ApiToken
        fields = ("user", "name", "scopes")


@admin.register(ApiToken)
class ApiTokenAdmin(Administrators):
    """Tokens are made and revoked (deleted), never changed; the secret is shown once."""

    form = TokenForm
    list_display = ("name", "user", "token_key", "scopes", "created", "expiry")
    search_fields = ("name", "user__username")
    list_select_related = ("user",)
    autocomplete_fields = ("user",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:  # noqa: ARG002
        if obj is None:
            return ("user", "name", "scopes", "days")
        return ("user", "name", "scopes", "token_key", "created", "expiry")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return is_administrator(request)

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:  # noqa: ARG002
        typed = form.cleaned_data
        made, secret = ApiToken.objects.create(
            user=typed["user"],
            name=typed["name"],
            scopes=typed["scopes"],
            expiry=timedelta(days=typed["days"]) if typed["days"] else None,
        )
        obj.pk, obj.token_key, obj._state.adding = made.pk, made.token_key, False
        obj.secret = secret  # for the answer to this request; it is stored nowhere

    def response_add(self, request: HttpRequest, obj: ApiToken, *_: Any, **__: Any) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "The new token",
            "token": obj,
        }
        return TemplateResponse(request, "admin/token_made.html", context)
