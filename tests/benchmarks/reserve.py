"""How long a reserve waits in a crowd, against a bare conditional UPDATE of one row in the same crowd."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.measure import Figure, Size
from tests.services.installation import Installation

# 20 each: the first use of a connection, when its statements are planned, is below the 5 % left out.
REQUESTS = 1000
PLENTY = "20"  # nobody is refused


def figures(make: Callable[[Path], Installation], size: Size) -> list[Figure]:
    """The 95th percentile of the waits of 50 analysts in four processes.

    make: a migrated installation on PostgreSQL, in that folder.
    """
    requests = 50 if size.is_tiny else REQUESTS
    return [
        Figure(
            name="p95 of a reserve, 50 analysts at once (PostgreSQL)",
            alternative="p95 of a bare single-row conditional UPDATE",
            ours=(p95_seconds(make, "reserve", requests),),
            theirs=(p95_seconds(make, "update", requests),),
        )
    ]


def p95_seconds(make: Callable[[Path], Installation], act: str, requests: int) -> float:
    """Errors: RuntimeError where not all were granted: then the waits are of something else."""
    with tempfile.TemporaryDirectory() as folder:
        told = make(Path(folder) / "state").script("crowd", act, requests, PLENTY)
    if told["outcomes"] != {"granted": requests}:
        raise RuntimeError(f"{act}: {told['outcomes']}")
    return float(told["p95"])
