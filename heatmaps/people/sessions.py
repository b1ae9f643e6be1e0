"""Keeps sessions in the database under a digest of their keys: who reads the table cannot use one.

SESSION_ENGINE names this module. No page is served by asynchronous code: that half of Django's is not here.
"""

import hashlib
from typing import Any, Final

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.contrib.sessions.models import Session
from django.utils import timezone

_DIGITS: Final = 40  # as many as the column has: 160 bits


def stored_key(session_key: str | None) -> str:
    """Returns under which key a session stands in the table; "" for one that stands nowhere."""
    if session_key is None:
        return ""
    return hashlib.sha256(session_key.encode(errors="replace")).hexdigest()[:_DIGITS]


class SessionStore(db.SessionStore):
    """Stores sessions as Django does, but for the key under which it asks the table."""

    def _get_session_from_db(self) -> Session | None:
        key = stored_key(self.session_key)
        row = Session.objects.filter(session_key=key, expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
        return row

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(stored_key(key))
