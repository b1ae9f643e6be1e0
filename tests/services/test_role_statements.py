"""Each role tries every statement on all that the catalog has: what comes of it is what was granted."""

from collections import Counter

import psycopg
import pytest

from tests.services import statements
from tests.services.roles import CLOCK, OWNER, RIGHTS, WEB, WORKER, signed_in

pytestmark = [pytest.mark.postgres, pytest.mark.long]

LEAST_KINDS, LEAST_STATEMENTS = 82, 2_000
REFUSED = ("42501", "42939", "2201F")  # no right, a reserved name, a grant without effect
# What is sent together is one transaction, which this ends without a trace.
UNDO, UNDONE = "SELECT 1 / 0", "22012"
# Rules of the rows, or of the program: the right was there.
PAST_RIGHTS = ("23", "P0001")


def outcome(connection, statement):
    """The code of the error, "" without one; nothing is left of it."""
    text = statement.text if statement.is_alone else f"{statement.text}; {UNDO}"
    try:
        if statement.text.startswith("COPY") and "STD" in statement.text:
            copy(connection, statement.text)
        else:
            connection.execute(text)
    except psycopg.Error as error:
        return "" if error.sqlstate == UNDONE else error.sqlstate
    return ""


def copy(connection, text):
    with connection.cursor() as cursor, cursor.copy(text) as stream:
        if text.endswith("STDOUT"):
            for _ in stream:
                pass


@pytest.mark.parametrize("role", [WEB, WORKER, CLOCK])
def test_every_statement_ends_as_it_was_granted(postgres, granted, role):
    name = granted[1]
    with signed_in(postgres, name, OWNER) as owner:
        tried = list(statements.of_role(owner, RIGHTS[role], role.removeprefix("hazemap_")))
    kinds, wrong = Counter(), []
    with signed_in(postgres, name, role, options="-c client_min_messages=error") as connection:
        for statement in tried:
            kinds[statement.kind] += 1
            code = outcome(connection, statement)
            is_refused = code in REFUSED
            is_sound = is_refused or not code or code.startswith(PAST_RIGHTS)
            if not is_sound or is_refused == statement.is_allowed:
                wrong.append((code, statement))
    assert wrong == []
    assert len(kinds) >= LEAST_KINDS
    assert len(tried) >= LEAST_STATEMENTS
