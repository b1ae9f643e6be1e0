"""64 requests at the same moment on a budget for exactly 10."""

import pytest

pytestmark = pytest.mark.xdist_group("services")


@pytest.mark.parametrize("crowd", ["threads", "processes"])
def test_it_grants_exactly_what_the_budget_holds(installation, crowd):
    installation.script("race", "seed", "city", "5")
    told = installation.script("race", crowd, "city", "64")
    assert sorted(set(told["outcomes"])) == ["granted", "refused"]
    assert told["outcomes"].count("granted") == told["releases"] == 10
    assert len(told["outcomes"]) == 64
    assert told["committed"] == 5 * 10**12
    assert "city: ok, 12 events" in installation.manage("verify-ledger").stdout
