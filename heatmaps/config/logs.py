"""Log lines that carry no data about people.

Our own messages are written for that: ids, names of error classes, places in the program. What libraries
log is not: paths and query strings, host names that were sent, messages and tracebacks of errors, messages
of the broker. Of those only logger, level, status, classes of errors and the place are kept.
"""

import logging
import traceback
from types import TracebackType
from typing import Final

OWN: Final = ("heatmaps", "api")


class PrivateFormatter(logging.Formatter):
    """One line a record; never a traceback, whose last line is the error's message."""

    def format(self, record: logging.LogRecord) -> str:
        own = record.name.partition(".")[0] in OWN
        told = record.getMessage() if own else _outline(record)
        return f"{self.formatTime(record)} {record.levelname} {record.name}: {told}{_cause(record)}"


def _outline(record: logging.LogRecord) -> str:
    status = getattr(record, "status_code", None)
    parts = [] if status is None else [f"status {int(status)}"]
    arguments = record.args if isinstance(record.args, tuple) else ()
    parts += [_class(given) for given in arguments if isinstance(given, BaseException)]
    return ", ".join([*parts, f"said in {record.module}:{record.lineno}"])


def _cause(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    return f" ({_class(error)}{_place(error.__traceback__)})"


def _class(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _place(trace: TracebackType | None) -> str:
    if trace is None:
        return ""
    last = traceback.extract_tb(trace)[-1]
    return f" at {last.filename}:{last.lineno}"
