"""Installations on one PostgreSQL server that are migrated once."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.services.installation import Installation
from tests.services.programs import Postgres


@contextlib.contextmanager
def migrated(postgres: Postgres) -> Iterator[Callable[[Path], Installation]]:
    """Gives copies of a migrated installation, each in a new folder and with a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        name = postgres.new_database()
        template = Installation(folder=Path(folder), database_url=postgres.url(name))
        template.manage("migrate", "--verbosity", "0")
        yield lambda state: template.copied_to(state, postgres.url(postgres.new_database(name)))
