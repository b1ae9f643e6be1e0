"""Formats log lines without data about people: text for a terminal, JSON for log collectors.

Our own lines are an event's name with fields: ids, classes of errors, places in the program. What libraries
log is not written for that: paths and query strings, host names that were sent, messages and tracebacks of
errors, messages of the broker. Of those only logger, level, status, classes of errors and the place are kept.
"""

import logging
import sys
import traceback
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any, Final
from uuid import UUID

import structlog
from structlog.contextvars import merge_contextvars
from structlog.stdlib import ProcessorFormatter

FORMATS: Final = ("text", "json")
OWN: Final = ("heatmaps", "api")
FOREIGN: Final = "library"  # the event of a line that somebody else's program logged

Fields = MutableMapping[str, Any]


def configure(form: str) -> dict[str, Any]:
    """Sets up structlog; the standard library's logging as Django's `LOGGING`. `form`: one of `FORMATS`.

    Errors: RuntimeError naming the variable.
    """
    if form not in FORMATS:
        raise RuntimeError(f"HAZEMAP_LOG_FORMAT is {form!r}; allowed: {', '.join(FORMATS)}")
    logging.captureWarnings(form == "json")  # else Python writes them around all handlers
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            merge_contextvars,
            _without_data,
            ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"private": {"()": "heatmaps.config.logs.private_formatter", "form": form}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "private"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "heatmaps": {"level": "INFO"},
            # A line a request is for collectors: in a terminal it would bury the rest.
            "heatmaps.requests": {"level": "INFO" if form == "json" else "WARNING"},
            "django": {"handlers": []},  # no console and no mail of Django's own
            "waitress.queue": {"level": "ERROR"},  # a page with its scripts fills four threads for a moment
        },
    }


def private_formatter(form: str) -> ProcessorFormatter:
    """Formats one line a record; never a traceback, whose last line is the error's message."""
    text = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    renderer = structlog.processors.JSONRenderer() if form == "json" else text
    return ProcessorFormatter(
        foreign_pre_chain=[merge_contextvars],
        pass_foreign_args=True,
        processors=[
            _outline,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
    )


def _without_data(_logger: object, _method: str, fields: Fields) -> Fields:
    """Strips our own lines of data: names an error by class and place, an unforeseen value by its class."""
    return {name: _loggable(value) for name, value in fields.items() if name != "exc_info"}


def _loggable(value: object) -> object:
    match value:
        case BaseException():
            return f"{_class(type(value))}{_place(value.__traceback__)}"
        case type():
            return _class(value)
        case UUID():
            return str(value)
        case int() | str():
            return value
        case _:
            return _class(type(value))


def _outline(_logger: object, _method: str, fields: Fields) -> Fields:
    """Returns name and level of the logger, and of foreign lines nothing but what this module's head says."""
    record: logging.LogRecord = fields.pop("_record")
    ours_in_full = fields.pop("_from_structlog")
    arguments = fields.pop("positional_args", ())
    error = (fields.pop("exc_info", None) or (None, None))[1]
    fields.pop("stack_info", None)
    fields.update(level=record.levelname.lower(), logger=record.name)
    if ours_in_full:
        return fields
    if error is not None:
        fields["cause"] = _loggable(error)
    if record.name.partition(".")[0] not in OWN:
        fields.update(event=FOREIGN, **_library(record, arguments))
    return fields


def _library(record: logging.LogRecord, arguments: object) -> dict[str, object]:
    facts: dict[str, object] = {"place": f"{record.module}:{record.lineno}"}
    if (status := getattr(record, "status_code", None)) is not None:
        facts["status"] = int(status)
    values = arguments if isinstance(arguments, tuple) else ()
    if errors := [_class(type(value)) for value in values if isinstance(value, BaseException)]:
        facts["errors"] = ", ".join(errors)
    return facts


def _class(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _place(trace: TracebackType | None) -> str:
    if trace is None:
        return ""
    last = traceback.extract_tb(trace)[-1]
    return f" at {last.filename}:{last.lineno}"
