"""A shuffler and its analyser, for all tests that leave them as they are."""

import pytest

from tests.shuffler.analyser_peer import AnalyserPeer
from tests.shuffler.process import Shuffler

PEOPLE = [f"Person {number}" for number in range(1, 31)]


@pytest.fixture(scope="session")
def pair(tmp_path_factory):
    shuffler = Shuffler(tmp_path_factory.mktemp("shuffler"))
    with AnalyserPeer(shuffler.about).running() as analyser:
        shuffler.join(analyser.url)
        (shuffler.folder / "people.txt").write_text("\n".join(PEOPLE))
        shuffler.manage("enrol", "trees", "people.txt")
        shuffler.start()
        try:
            yield shuffler, analyser
        finally:
            shuffler.stop()


@pytest.fixture
def shuffler(pair):
    return pair[0]


@pytest.fixture
def analyser(pair):
    return pair[1]
