"""How long a reserve waits in a crowd, against a bare conditional UPDATE of one row in the same crowd."""

import tempfile
from pathlib import Path

from tests.benchmarks.measure import Figure
from tests.services.installation import Installation
from tests.services.programs import Postgres

# 40 each: the first use of a connection, when its statements are planned, is below the 5 % left out.
REQUESTS = {"reserve": 2000, "update": 2000}
PLENTY = "20"  # nobody is refused


def figures(postgres: Postgres) -> list[Figure]:
    """The 95th percentile of the waits of 50 analysts in four processes."""
    waits = {act: p95_seconds(postgres, act) for act in REQUESTS}
    return [
        Figure(
            name="p95 of a reserve, 50 analysts at once (PostgreSQL)",
            alternative="p95 of a bare single-row conditional UPDATE",
            seconds=waits["reserve"],
            alternative_seconds=waits["update"],
            repeats=1,
        )
    ]


def p95_seconds(postgres: Postgres, act: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        made = Installation(folder=Path(folder), database_url=postgres.url(postgres.new_database()))
        made.manage("migrate", "--verbosity", "0")
        return float(made.script("crowd", act, REQUESTS[act], PLENTY)["p95"])
