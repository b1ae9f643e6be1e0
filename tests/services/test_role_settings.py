"""What a role sets for itself does not change what a process of the product runs with."""

import psycopg
import pytest

from heatmaps.config.database_settings import PINNED, pinned
from tests.services.roles import CLOCK, OWNER, WEB, WORKER, signed_in

pytestmark = [pytest.mark.postgres]

# A value of each that does harm, or could.
HARMFUL = {
    "search_path": "pg_catalog",
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "synchronous_commit": "off",
    "statement_timeout": "1min",
    "lock_timeout": "1min",
    "idle_in_transaction_session_timeout": "1min",
    "idle_session_timeout": "1min",
    "standard_conforming_strings": "off",
    "transform_null_equals": "on",
    "row_security": "off",
    "extra_float_digits": "-15",
    "DateStyle": "German, DMY",
    "IntervalStyle": "iso_8601",
    "bytea_output": "escape",
    "exit_on_error": "on",
    "array_nulls": "off",
    "tcp_user_timeout": "1000",
}
# Whoever has this one cannot connect.
CLOSING = "local_preload_libraries"
READ = "SELECT lower(name), setting FROM pg_settings WHERE lower(name) = ANY(%s)"


def settings_of(connection):
    return dict(connection.execute(READ, [[name.lower() for name in PINNED]]).fetchall())


def reset(postgres, name):
    with signed_in(postgres, name, OWNER) as owner:
        for role in (WEB, WORKER, CLOCK):
            owner.execute(f"ALTER ROLE {role} RESET ALL")
            owner.execute(f"ALTER ROLE {role} IN DATABASE {name} RESET ALL")


@pytest.fixture
def changed(postgres, granted):
    """All three roles have set everything for themselves."""
    name = granted[1]
    for role in (WEB, WORKER, CLOCK):
        with signed_in(postgres, name, role) as connection:
            for setting, value in HARMFUL.items():
                connection.execute(f"ALTER ROLE CURRENT_USER SET {setting} TO {value!r}")
    yield name
    reset(postgres, name)


@pytest.mark.parametrize("role", [WEB, WORKER, CLOCK])
def test_its_own_settings_do_not_reach_a_process(postgres, changed, role):
    with signed_in(postgres, changed, OWNER, options=pinned({})["options"]) as owner:
        wanted = settings_of(owner)
    with signed_in(postgres, changed, role) as connection:
        attacked = settings_of(connection)
    with signed_in(postgres, changed, role, options=pinned({})["options"]) as connection:
        assert settings_of(connection) == wanted
    assert {name for name in wanted if wanted[name] == attacked[name]} == {CLOSING}


@pytest.mark.parametrize("where", ["", "IN DATABASE {}"])
def test_no_role_keeps_its_processes_from_connecting(postgres, granted, where):
    name = granted[1]
    try:
        with signed_in(postgres, name, WEB) as web:
            web.execute(f"ALTER ROLE CURRENT_USER {where.format(name)} SET {CLOSING} TO 'absent'")
        with pytest.raises(psycopg.OperationalError):
            signed_in(postgres, name, WEB)
        with signed_in(postgres, name, WEB, options=pinned({})["options"]) as web:
            assert web.execute(f"SHOW {CLOSING}").fetchone() == ("",)
    finally:
        reset(postgres, name)


def test_an_operators_address_goes_on_top():
    options = pinned({"options": "-c statement_timeout=60000", "sslmode": "require"})
    assert options["sslmode"] == "require"
    assert options["options"].endswith("-c statement_timeout=60000")


@pytest.mark.parametrize("role", [WEB, WORKER, CLOCK])
def test_a_role_sets_nothing_that_pinning_could_not_undo(postgres, granted, role):
    with signed_in(postgres, granted[1], role) as connection:
        for statement in (
            "ALTER ROLE CURRENT_USER SET session_replication_role = replica",
            "ALTER ROLE CURRENT_USER SET session_preload_libraries = 'x'",
            "ALTER ROLE CURRENT_USER CONNECTION LIMIT 0",
            "ALTER ROLE CURRENT_USER VALID UNTIL '2000-01-01'",
            "ALTER ROLE CURRENT_USER NOLOGIN",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(statement)
