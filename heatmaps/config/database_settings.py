"""Pins what a session of PostgreSQL runs with, so that no role's own `ALTER ROLE … SET` changes a process."""

from collections.abc import Mapping
from typing import Any, Final

# Those that change what a statement does, whether it does, or whether it lasts, or keep a process from
# connecting. A role may not set the others itself, or they make it slow alone. All are known since
# PostgreSQL 14: a server refuses whoever names one that it does not know.
PINNED: Final[Mapping[str, str]] = {
    "search_path": "public",
    "default_transaction_read_only": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_deferrable": "off",
    "synchronous_commit": "on",  # a spend that was committed survives a power cut
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "row_security": "on",
    "extra_float_digits": "1",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "local_preload_libraries": "",
    "exit_on_error": "off",
    "array_nulls": "on",
    "tcp_user_timeout": "0",
}


def pinned(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options of a connection with those settings; what the operator's address says goes on top."""
    # Blanks inside a value need a backslash.
    escaped = [(name, value.replace(" ", r"\ ")) for name, value in PINNED.items()]
    flags = [f"-c {name}={value}" for name, value in escaped]
    return {**options, "options": " ".join([*flags, options.get("options", "")]).strip()}
