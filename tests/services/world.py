"""One place that makes what tests of services run in: installations, each with a database of its own.

All are copies of what was migrated once for the run: nothing migrates again.
"""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from tests.migrated import DUMP
from tests.services.deployment import Deployment
from tests.services.programs import Postgres, Redis, found_or_skip


@dataclass(frozen=True)
class World:
    """`fixture` returns a fixture of the session by its name, the first time by starting what it needs."""

    fixture: callable
    _ends: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def installation(self, folder, vendor="sqlite", *, server=None, has_roles=False, **facts):
        """Copies an empty installation into `folder`/state.

        server: a PostgreSQL server of the test's own, else all share one. has_roles: after `grant-roles`.
        facts: other fields of `Installation`.
        """
        if vendor == "sqlite":
            made = self.fixture("migrated_sqlite").copied_to(Path(folder) / "state")
        else:
            made = self._on_postgres(Path(folder) / "state", server)
        for name, fact in facts.items():
            setattr(made, name, fact)
        if has_roles:
            made.manage("grant-roles")
        return made

    def _on_postgres(self, state, server):
        template, name = self.fixture("migrated_postgres")
        if server is not None:
            return template.copied_to(state, server.url(server.restored(template.folder / DUMP)))
        postgres = self.fixture("postgres")
        return template.copied_to(state, postgres.url(postgres.new_database(name)))

    @contextlib.contextmanager
    def deployment(self, folder, *, kind=Deployment, **facts):
        """Starts Redis, web, workers and clock on a PostgreSQL server of their own: each may be killed."""
        for program in (Postgres, Redis):
            found_or_skip(program)
        with Postgres.started(in_memory=True) as server:
            made = self.installation(folder, "postgresql", server=server, **facts)
            with kind(made, server) as deployment:
                yield deployment
