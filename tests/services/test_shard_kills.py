"""Workers killed at every commit of a release that is read in shards: at most one draw, and an end."""

import pytest

CHARGE = 10**12 // 2
# Shards are read again, by whoever comes; a draw is never made again. State and draws of the release.
EXPECTED = {
    "before spread": ("failed", 0),  # spent, and nobody knows of it
    "after spread": ("published", 1),
    "before claim": ("published", 1),
    "after claim": ("published", 1),
    "before finish": ("published", 1),
    "after finish": ("published", 1),
    "before finish last": ("published", 1),
    "after finish last": ("failed", 0),  # elected to draw
    "before publish": ("failed", 1),
    "after publish": ("published", 1),
    "before clear": ("published", 1),
    "after clear": ("published", 1),
}


@pytest.mark.long
@pytest.mark.parametrize("vendor", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_a_release_in_shards_survives_a_kill_at_every_commit(installation):
    told = installation.script("shard_killing", "3")
    assert set(told) == set(EXPECTED)
    for point, outcomes in told.items():
        state, draws = EXPECTED[point]
        for outcome in outcomes:
            assert outcome["killed"], point
            assert (outcome["states"], outcome["draws"]) == ([state], [draws]), point
            assert outcome["maps"] == (state == "published"), point
            assert outcome["rows"] == 0, point
            assert outcome["committed"] == CHARGE, point
            assert outcome["problem"] == "", point
