"""Reads what mails are sent by: the variables `HAZEMAP_MAIL_…`, whose table `environment.py` has."""

import os
from dataclasses import dataclass, field
from email.utils import parseaddr
from pathlib import Path
from typing import Final

_PORTS: Final = {"starttls": 587, "tls": 465, "none": 25}
_LAST_PORT: Final = 65_535
_OTHERS: Final = ("PORT", "USER", "PASSWORD", "PASSWORD_FILE", "TLS", "FROM")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """Describes the operator's own server for mails. `tls`: "starttls", "tls" or "none".

    `origin`: what links in mails begin with, such as https://maps.example.org.
    """

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    tls: str
    sender: str
    origin: str


def server() -> MailServer | None:
    """Reads the mail server. Errors: RuntimeError naming the variable; OSError.

    None: no mail is sent, and no page offers any.
    """
    texts = {name: os.environ.get(f"HAZEMAP_MAIL_{name}", "") for name in ("HOST", *_OTHERS)}
    if not texts["HOST"]:
        if lone := next((name for name in _OTHERS if texts[name]), None):
            raise RuntimeError(f"HAZEMAP_MAIL_{lone} needs HAZEMAP_MAIL_HOST")
        return None
    tls = texts["TLS"] or "starttls"
    if tls not in _PORTS:
        raise RuntimeError(f"HAZEMAP_MAIL_TLS must be {' or '.join(_PORTS)}, not {tls!r}")
    password = _password(texts)
    if bool(texts["USER"]) != bool(password):
        raise RuntimeError("HAZEMAP_MAIL_USER and HAZEMAP_MAIL_PASSWORD_FILE need each other")
    return MailServer(
        host=texts["HOST"],
        port=_port(texts["PORT"] or str(_PORTS[tls])),
        user=texts["USER"],
        password=password,
        tls=tls,
        sender=_sender(texts["FROM"]),
        origin=_origin(),
    )


def _password(texts: dict[str, str]) -> str:
    if texts["PASSWORD"] and texts["PASSWORD_FILE"]:
        raise RuntimeError("set HAZEMAP_MAIL_PASSWORD or HAZEMAP_MAIL_PASSWORD_FILE, not both")
    return Path(texts["PASSWORD_FILE"]).read_text().strip() if texts["PASSWORD_FILE"] else texts["PASSWORD"]


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _LAST_PORT:
        raise RuntimeError(f"HAZEMAP_MAIL_PORT must be a whole number from 1 to {_LAST_PORT}, not {text!r}")
    return int(text)


def _sender(text: str) -> str:
    _, address = parseaddr(text)
    if "@" not in address.strip("@") or "\n" in text:
        raise RuntimeError(
            f"HAZEMAP_MAIL_FROM must be an address such as Hazemap <maps@example.org>, not {text!r}"
        )
    return text


def _origin() -> str:
    """Returns the first origin, not what a request says."""
    # Whoever has a mail sent to somebody else may name another port or host in the request.
    named = (text.strip() for text in os.environ.get("HAZEMAP_ORIGINS", "").split(","))
    if origin := next((text for text in named if text and "*" not in text), None):
        return origin
    raise RuntimeError(
        "HAZEMAP_MAIL_HOST needs HAZEMAP_ORIGINS, such as https://maps.example.org: links in mails begin so"
    )
