"""Checks whether the database's tables are those of this version."""

from typing import Final

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LAST_WITH_ALL: Final = "dd01907"  # the commit before migrations were replaced by their outcome


class TooOldError(Exception):
    """Refuses a database without some of the migrations that were replaced.

    Only an earlier version has them.
    """

    def __init__(self, missing: list[str]) -> None:
        super().__init__(
            f"this version cannot upgrade the database, which lacks {', '.join(missing)}: run "
            f"`manage.py migrate` of commit {LAST_WITH_ALL} first, then that of this version"
        )


def is_behind(connection: BaseDatabaseWrapper) -> bool:
    """Returns whether the database lacks a migration of this version."""
    try:
        refuse_too_old(connection)
    except TooOldError:
        return True
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def refuse_too_old(connection: BaseDatabaseWrapper) -> None:
    """Refuses a database that Django itself takes for one with nothing to do. Errors: TooOldError."""
    applied = MigrationRecorder(connection).applied_migrations()
    missing = []
    for (app, _), replacing in MigrationLoader(None).replacements.items():
        lacking = [name for _, name in replacing.replaces if (app, name) not in applied]
        if app == "heatmaps" and len(lacking) < len(replacing.replaces):
            missing += lacking
    if missing:
        raise TooOldError(sorted(missing))
