"""Passkeys: at which addresses there are any, and whether one was asked for by this very server."""

# ruff: noqa: N818 - domain words; `except LastFactor` says what happened

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from fido2.webauthn import CollectedClientData

from heatmaps.people import accounts, mails
from heatmaps.people.provider_people import LastWayIn, has_another_way_in
from heatmaps.people.refusals import MemberError

LONGEST_NAME: Final = 50
MOST: Final = 20  # of one account
LOCAL: Final = "localhost"


class LastFactor(MemberError):
    code = "last_factor"

    def __init__(self) -> None:
        super().__init__("this server requires a second factor; set up another one first")


def host_of(request: HttpRequest) -> str:
    """Returns the name that passkeys are bound to: that of the address, without its port."""
    host = request.get_host()
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and ":" in host else host


def why_none(request: HttpRequest) -> str:
    """Says why there are no passkeys at this address, in words; "" where there are."""
    host = host_of(request)
    if _is_number(host):
        return f"Passkeys need a name in the address, such as {_name_instead(request)}, not {host}."
    if not request.is_secure() and host != LOCAL:
        return "Passkeys need an address that begins with https."
    return ""


def passkeys_of(user: User) -> QuerySet[Authenticator]:
    """Selects the passkeys, the latest first."""
    passkeys: QuerySet[Authenticator] = Authenticator.objects.filter(
        user=user, type=Authenticator.Type.WEBAUTHN
    )
    return passkeys.order_by("-created_at")


def require_own_origin(request: HttpRequest, client_data: CollectedClientData) -> None:
    """Refuses other origins.

    Errors: ValidationError where a browser asked for another page, of whatever name below ours.
    """
    own = f"{request.scheme}://{request.get_host()}"
    if why_none(request) or client_data.origin != own or client_data.cross_origin:
        raise refusal()


def count_use(passkey: Authenticator, count: int) -> None:
    """Keeps how often its holder says that it signed; 0 where holders do not count.

    Errors: ValidationError where that did not grow: somebody has a copy, and of two nobody knows the owner.
    """
    if not _grows(passkey, count):
        name = passkey.wrap().name
        mails.tell(passkey.user, f"Somebody may have a copy of your passkey {name}. Remove it.")
        accounts.note("account.passkey_copied", passkey.user, passkey.user)
        raise refusal()


@transaction.atomic
def _grows(passkey: Authenticator, count: int) -> bool:
    row = Authenticator.objects.select_for_update().get(pk=passkey.pk)
    before = row.data.get("signed", row.wrap().authenticator_data.counter)
    if (count or before) and count <= before:
        return False
    row.data["signed"] = count
    row.save(update_fields=["data"])
    return True


def require_removable(passkey: Authenticator) -> None:
    """Refuses to remove the last way in.

    The caller holds the account's lock. Errors: LastWayIn, LastFactor.
    """
    if accounts.must_keep(passkey):
        raise LastFactor
    if not has_another_way_in(passkey.user, than=passkey):
        raise LastWayIn


def refusal() -> ValidationError:
    """Returns the refusal of every passkey that is not right."""
    return ValidationError("This passkey was not accepted. Try again, or choose another one.", code="passkey")


def _name_instead(request: HttpRequest) -> str:
    """Names where the same server has passkeys, as far as it knows."""
    if LOCAL in settings.ALLOWED_HOSTS and _address(host_of(request)).is_loopback:
        return f"{LOCAL}{request.get_host().removeprefix(host_of(request))}"
    return "maps.example.org"


def _is_number(host: str) -> bool:
    try:
        _address(host)
    except ValueError:
        return False
    return True


def _address(host: str) -> IPv4Address | IPv6Address:
    """Parses an address. Errors: ValueError where it is a name."""
    return ip_address(host.strip("[]"))
