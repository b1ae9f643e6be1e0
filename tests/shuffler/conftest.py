"""A shuffler and its analyser, for all tests that leave them as they are."""

import contextlib

import pytest

from tests.shuffler.analyser_peer import AnalyserPeer
from tests.shuffler.process import Shuffler, wait_until

PEOPLE = [f"Person {number}" for number in range(1, 31)]
# What the analyser needs is here of no use: the shuffler reads none of it.
OF_THE_ANALYSER = {
    "HAZEMAP_STATE": "/dev/null/state",
    "HAZEMAP_KEY_DIR": "/dev/null/keys",
    "HAZEMAP_DATABASE_URL": "nonsense://",
    "HAZEMAP_LOG_FORMAT": "nonsense",
    "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings",
}


@contextlib.contextmanager
def joined(folder):
    """A shuffler that 30 people are enrolled at, not running, and its analyser."""
    shuffler = Shuffler(folder, others=OF_THE_ANALYSER | {"HAZEMAP_SHUFFLER_OPEN_LINK_DAILY": "5"})
    (folder / "people.txt").write_text("\n".join(PEOPLE))
    with AnalyserPeer(shuffler.about).running() as analyser:
        told = shuffler.commands(shuffler.joining(analyser.url), ("enrol", "trees", folder / "people.txt"))
        assert [refusal for _, refusal in told] == ["", ""]
        try:
            yield shuffler, analyser
        finally:
            shuffler.kill()


@pytest.fixture(scope="session")
def pair(tmp_path_factory):
    with joined(tmp_path_factory.mktemp("shuffler")) as (shuffler, analyser):
        shuffler.start()
        wait_until(shuffler.is_up, "the server")
        yield shuffler, analyser


@pytest.fixture
def shuffler(pair):
    return pair[0]


@pytest.fixture
def analyser(pair):
    return pair[1]
