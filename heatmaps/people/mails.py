"""Sends mails to people, one after the other and after the answer that asked for them.

So no answer's time tells whether anybody gets one. Nothing is sent where HAZEMAP_MAIL_HOST is not set.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final
from urllib.parse import urljoin

import structlog
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import connections, transaction

_GREETING: Final = "Hello {name},\n\n{text}\n\nHazemap\n"
_CHANGED: Final = (
    "{what}\n\nIf that was you, or if you expected it, there is nothing to do. If not, ask an administrator "
    "of this server now."
)

_one_by_one = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")
_log = structlog.stdlib.get_logger(__name__)


def later(act: Callable[[], None]) -> Future[None]:
    """Does what sends a mail, once what is under way is committed."""
    done: Future[None] = Future()
    transaction.on_commit(lambda: _one_by_one.submit(_carefully, act, done))
    return done


def tell(user: User, sentence: str) -> None:
    """Tells `user` that something changed in how they sign in, at the address that was verified, if any."""
    if settings.MAIL is not None:
        later(partial(_tell, user.pk, sentence))


def tell_at(address: EmailAddress, sentence: str) -> None:
    """Tells the same at an address that was the account's until now; nothing where it was never verified."""
    if settings.MAIL is not None and address.verified:
        later(partial(_tell_at, address.user, address.email, sentence))


def link_to(page: str) -> str:
    """Returns the address of a page of this server, for a mail."""
    if settings.MAIL is None:
        raise RuntimeError("this server sends no mail")
    return urljoin(settings.MAIL.origin, page)


def send(user: User, address: str, subject: str, text: str) -> None:
    """Sends a mail; to be called by what `later` does. Errors: those of the mail server."""
    body = _GREETING.format(name=user.get_username(), text=text)
    EmailMessage(subject, body, to=[address]).send()


def _tell(account_id: int, sentence: str) -> None:
    addresses = EmailAddress.objects.filter(user=account_id, verified=True, primary=True).select_related(
        "user"
    )
    for address in addresses:
        _tell_at(address.user, address.email, sentence)


def _tell_at(user: User, address: str, sentence: str) -> None:
    send(user, address, "Your Hazemap account", _CHANGED.format(what=sentence))


def _carefully(act: Callable[[], None], done: Future[None]) -> None:
    try:
        act()
    except Exception as error:  # noqa: BLE001 - nobody waits for it; the log says that it failed
        _log.warning("mail.failed", cause=type(error))
    finally:
        connections.close_all()
        done.set_result(None)
