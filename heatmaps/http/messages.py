"""Keeps what is said to somebody at the next page, each sentence once."""

from typing import Any, Final

from django.contrib.messages.storage.base import Message
from django.contrib.messages.storage.session import SessionStorage
from django.http import HttpResponseBase

MOST: Final = 20


class OnceStorage(SessionStorage):
    """Stores messages once (MESSAGE_STORAGE).

    Pages that send on say their reason each time, and nobody may have read it between.
    """

    def _store(
        self, messages: list[Message], response: HttpResponseBase, *arguments: Any, **named: Any
    ) -> list[Message]:
        unique: list[Message] = []
        for message in messages:
            if message not in unique:
                unique.append(message)
        left: list[Message] = super()._store(  # type: ignore[misc]  # not in its stubs
            unique[-MOST:], response, *arguments, **named
        )
        return left
