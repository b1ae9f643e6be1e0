"""How the processes of a run (`make test`, `make test-long`) share the tests: whole files, the longest first.

What is left at the end is short, so that no process waits long for another's last file.
"""

from xdist.scheduler import LoadFileScheduling

from tests.services.installation import ROOT

TESTS = ROOT / "tests"
# The longest first; what is not named comes after them.
LONGEST = (
    "services/test_postgres.py",
    "services/collections/test_roles.py",
    "sources/test_kills.py",
    "sources/test_leaks.py",
    "services/test_timing.py",
    "mechanisms/audit/test_lower_bound.py",
    "services/test_model.py",
    "scripts/test_surface.py",
    "services/test_going_back.py",
    "services/test_kills.py",
    "services/collections/test_kills.py",
    "browser/test_accessibility.py",
    "mechanisms/reproduction/test_adaptive_accuracy.py",
    "services/test_killed_services.py",
    "api/test_schema.py",
    "pages/test_matrix.py",
    "services/test_people_races.py",
    "services/test_races.py",
    "services/test_deployment.py",
    "services/test_checked_events.py",
    "mechanisms/central/test_contract.py",
    "manual/test_tutorials.py",
    "deployment/test_rehearsal.py",
    "deployment/test_wheel.py",
    "commands/test_bench.py",
    "ingest/formats/test_memory.py",
    "services/test_backup.py",
    "attacks/test_neighbours.py",
    "commands/test_evaluate.py",
)
# Files of long tests that share nothing which takes time to make: each test is a piece of work of its own.
SEVERAL = {
    "attacks/test_neighbours.py",
    "ingest/formats/test_memory.py",
    "mechanisms/audit/test_lower_bound.py",
    "scripts/test_surface.py",
    "services/collections/test_kills.py",
    "services/test_postgres.py",
    "services/test_timing.py",
}
WAITING = ("browser", "deployment", "services", "shuffler", "sources")  # folders whose files take long


class LongestFirst(LoadFileScheduling):
    """Gives each process whole files in the order of the collection; of some files single tests."""

    def _split_scope(self, nodeid):
        path = nodeid.partition("::")[0]
        return nodeid if path.removeprefix("tests/") in SEVERAL else path


def place(path):
    """Returns the place of a file's tests in the order of a run: smaller is earlier."""
    name = path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else ""
    rank = LONGEST.index(name) if name in LONGEST else len(LONGEST)
    return rank, name.partition("/")[0] not in WAITING
