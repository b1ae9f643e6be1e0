"""One place that makes what tests of services run in: installations, each with a database of its own.

All are copies of what was migrated once for the run: nothing migrates again.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.migrated import DUMP
from tests.services.deployment import Deployment
from tests.services.programs import Postgres, Redis, found_or_skip


@dataclass(frozen=True, slots=True)
class World:
    """`fixture` returns a fixture of the session by its name, the first time by starting what it needs."""

    fixture: Callable

    def installation(self, folder, vendor="sqlite", *, server=None, has_roles=False, **facts):
        """Copies an empty installation into `folder`/state.

        server: a PostgreSQL server of the test's own, else all share one. has_roles: after `grant-roles`.
        facts: other fields of `Installation`.
        """
        state = Path(folder) / "state"
        if vendor == "sqlite":
            copy = self.fixture("migrated_sqlite").copied_to(state)
        else:
            template, _ = self.fixture("migrated_postgres")
            copy = template.copied_to(state, self._database_url(server))
        installation = replace(copy, **facts)
        if has_roles:
            installation.manage("grant-roles")
        return installation

    def _database_url(self, server):
        template, name = self.fixture("migrated_postgres")
        if server is not None:
            return server.url(server.restored(template.folder / DUMP))
        shared = self.fixture("postgres")
        return shared.url(shared.new_database(name))

    @contextlib.contextmanager
    def deployment(self, folder, *, kind=Deployment, **facts):
        """Starts Redis, web, workers and clock on a PostgreSQL server of their own: each may be killed.

        folder, facts: as those of `installation`, on which they run.
        """
        for program in (Postgres, Redis):
            found_or_skip(program)
        with Postgres.started(in_memory=True) as server:
            installation = self.installation(folder, "postgresql", server=server, **facts)
            with kind(installation, server) as deployment:
                yield deployment
