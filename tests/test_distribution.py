"""Files that are named for their length are there, come first, and are shared out as they say."""

from types import SimpleNamespace

import pytest

from tests import distribution
from tests.services.installation import ROOT


@pytest.mark.parametrize("name", sorted({*distribution.LONGEST, *distribution.SEVERAL}))
def test_it_is_there(name):
    assert (ROOT / "tests" / name).is_file()


def test_the_longest_come_first_then_folders_that_wait_then_the_rest():
    names = ["maps/test_a.py", "services/test_a.py", "services/collections/test_a.py"]
    paths = [ROOT / "tests" / name for name in (*names, *reversed(distribution.LONGEST))]
    order = [path.relative_to(ROOT / "tests").as_posix() for path in sorted(paths, key=distribution.place)]
    assert order == [*distribution.LONGEST, *names[1:], names[0]]


@pytest.mark.parametrize(
    ("name", "alone"), [("services/test_postgres.py", True), ("services/test_kills.py", False)]
)
def test_a_file_is_one_piece_of_work_unless_it_holds_several(name, alone):
    nodeid = f"tests/{name}::test_it[a::b]"
    scope = distribution.LongestFirst._split_scope(SimpleNamespace(), nodeid)
    assert scope == (nodeid if alone else f"tests/{name}")
