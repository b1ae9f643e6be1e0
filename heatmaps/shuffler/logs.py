"""Formats log lines without data about people: our own in full, of others' only where they come from.

Ours name rounds and collections, never people, addresses, invitations or counts. What libraries log is not
written for that: paths, host names, messages of errors. Of errors class and place are told.
"""

import logging
import time
import traceback
from typing import Any, Final

OWN: Final = "heatmaps.shuffler"


def configuration() -> dict[str, Any]:
    """Returns Django's `LOGGING`."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"private": {"()": f"{__name__}.PrivateFormatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "private"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            OWN: {"level": "INFO"},
            "django": {"handlers": []},  # no console and no mail of Django's own
            "django.request": {"level": "ERROR"},  # refusals are answers, no events
            "waitress.queue": {"level": "ERROR"},
        },
    }


class PrivateFormatter(logging.Formatter):
    """Writes one line a record; never a traceback, whose last line is the error's message."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        text = record.getMessage() if record.name.startswith(OWN) else f"at {record.module}:{record.lineno}"
        error = record.exc_info[1] if record.exc_info else None
        cause = f" ({described(error)})" if error is not None else ""
        return f"{moment} {record.levelname.lower()} {record.name}: {text}{cause}"


def described(error: BaseException) -> str:
    """Names an error's class, and the place where it was raised."""
    trace = traceback.extract_tb(error.__traceback__)
    place = f" at {trace[-1].filename}:{trace[-1].lineno}" if trace else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{place}"
