"""A round of 24 devices with an analyser, a shuffler and devices as processes."""

import pytest

from tests.services.collections.stage import charged, counted, place_text, staged

NAMES = [f"Walker {number}" for number in range(24)]


@pytest.fixture(scope="module")
def played(world):
    """A round that has its result: its stage, itself, and what its ledger says."""
    with staged(world) as stage:
        token = stage.create("walks", NAMES)
        stage.join("walks", token, NAMES)
        made = stage.plan("walks", NAMES)
        stage.hand_out(made)
        crowd = stage.crowd(made, [(link, place_text(30.1, -97.9)) for link in made.links])
        crowd.start()
        crowd.finish()
        stage.wait_for_end(made)
        yield stage, made, stage.tell(made)


def test_it_counts_each_report_once(played):
    stage, made, told = played
    assert told["state"] == "published", stage.shuffler.output()
    assert told["reports"] == 24
    assert len(counted(made, told)) == 24


def test_it_charges_once(played):
    _, made, told = played
    assert told["problem"] == ""
    assert told["committed"] == charged(made)
    assert [told["events"].count(kind) for kind in ("reserve", "spend", "publish", "round")] == [1, 1, 1, 1]


def test_nothing_is_left_of_it(played):
    stage, made, _ = played
    assert stage.left(made) == []
