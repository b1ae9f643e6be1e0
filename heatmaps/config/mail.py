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
    """The operator's own server for mails. `tls`: "starttls", "tls" or "none".

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
    """None: no mail is sent, and no page offers any. Errors: RuntimeError naming the variable; OSError."""
    given = {name: os.environ.get(f"HAZEMAP_MAIL_{name}", "") for name in ("HOST", *_OTHERS)}
    if not given["HOST"]:
        if lone := next((name for name in _OTHERS if given[name]), None):
            raise RuntimeError(f"HAZEMAP_MAIL_{lone} needs HAZEMAP_MAIL_HOST")
        return None
    tls = given["TLS"] or "starttls"
    if tls not in _PORTS:
        raise RuntimeError(f"HAZEMAP_MAIL_TLS must be {' or '.join(_PORTS)}, not {tls!r}")
    password = _password(given)
    if bool(given["USER"]) != bool(password):
        raise RuntimeError("HAZEMAP_MAIL_USER and HAZEMAP_MAIL_PASSWORD_FILE need each other")
    return MailServer(
        host=given["HOST"],
        port=_port(given["PORT"] or str(_PORTS[tls])),
        user=given["USER"],
        password=password,
        tls=tls,
        sender=_sender(given["FROM"]),
        origin=_origin(),
    )


def _password(given: dict[str, str]) -> str:
    if given["PASSWORD"] and given["PASSWORD_FILE"]:
        raise RuntimeError("set HAZEMAP_MAIL_PASSWORD or HAZEMAP_MAIL_PASSWORD_FILE, not both")
    return Path(given["PASSWORD_FILE"]).read_text().strip() if given["PASSWORD_FILE"] else given["PASSWORD"]


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
    """Not what a request says: whoever has a mail sent to somebody else may name another port or host."""
    named = (text.strip() for text in os.environ.get("HAZEMAP_ORIGINS", "").split(","))
    if found := next((text for text in named if text and "*" not in text), None):
        return found
    raise RuntimeError(
        "HAZEMAP_MAIL_HOST needs HAZEMAP_ORIGINS, such as https://maps.example.org: links in mails begin so"
    )
