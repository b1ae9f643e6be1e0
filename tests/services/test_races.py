"""Many at the same moment: requests on a budget for exactly ten, moves on one release."""

import pytest

CHARGE = 10**12 // 2


@pytest.mark.parametrize("crowd", ["threads", "processes"])
def test_it_grants_exactly_what_the_budget_holds(installation, crowd):
    told = installation.script("race", crowd, "64", "5")
    assert sorted(set(told["outcomes"])) == ["granted", "refused"]
    assert told["outcomes"].count("granted") == told["releases"] == 10
    assert len(told["outcomes"]) == 64
    assert told["committed"] == 10 * CHARGE
    assert (told["problem"], told["events"]) == ("", 12)  # open, version, ten reservations


def test_either_the_clock_spends_a_release_or_it_is_given_back(installation):
    told = installation.script("race", "cancel", "16", "20")
    winners = [release for _, release in told["won"]]
    assert len(winners) == len(set(winners)) == 16
    spent = [name for name, _ in told["won"]].count("spend")
    assert told["held"] == spent * CHARGE
    assert set(told["problems"]) == {""}


def test_a_message_to_many_workers_is_drawn_once(installation):
    told = installation.script("race", "redeliver", "8", "5")
    assert (told["draws"], told["state"]) == (1, "published")
    assert (told["problem"], told["events"]) == ("", 5)
