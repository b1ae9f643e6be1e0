"""Tells templates about ways to sign in."""

import json
from typing import Any

from allauth.account.models import EmailAddress
from django import template
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

from heatmaps.people import accounts, passkeys, provider_people

register = template.Library()


@register.simple_tag
def sign_in_provider() -> Any:
    """Returns the OpenID Connect provider of this server; None without one."""
    return settings.SIGN_IN_PROVIDER


@register.simple_tag
def sends_mail() -> bool:
    """Tells whether this server sends mails."""
    return settings.MAIL is not None


@register.simple_tag(takes_context=True)
def passkeys_need(context: template.Context) -> str:
    """Says what passkeys would need of the address of this page; "" where it has that."""
    return passkeys.why_none(context["request"])


@register.filter
def as_json(options: object) -> str:
    """Writes JSON for an attribute that a script of ours reads."""
    return json.dumps(options, cls=DjangoJSONEncoder)


@register.inclusion_tag("account/ways_in.html", takes_context=True)
def ways_in(context: template.Context) -> dict[str, Any]:
    """Returns the ways in which the account that is signed in can sign in."""
    user = context["user"]
    address = EmailAddress.objects.filter(user=user, verified=True).first()
    return {
        "user": user,
        "has_second_factor": accounts.has_second_factor(user),
        "sends_mail": sends_mail(),
        "address": address,
        "provider": settings.SIGN_IN_PROVIDER,
        "link": provider_people.link_of(user),
        "passkeys": passkeys.passkeys_of(user).count(),
    }
