"""An analyser that does not keep to the protocol: nobody is invited, nobody is lost, others do not wait."""

import pytest

from tests.shuffler import device
from tests.shuffler.analyser_peer import AnalyserPeer, PeerRound, silent_listener
from tests.shuffler.process import wait_until

OTHER_KEY = device.base64url(bytes(range(32)))

WRONG_SHUFFLER = {"key": OTHER_KEY, "operator": "Maps", "url": "https://elsewhere.example", "more": 1}


def is_refused(shuffler, made):
    wait_until(lambda: shuffler.state_of(made) not in (None, "prepared", "ready"), "a decision")
    wait_until(lambda: not shuffler.files_of(made).exists(), "its files to go")
    assert shuffler.get(f"/rounds/{made.id}/facts.json").json()["code"] == "unknown_round"
    return shuffler.state_of(made) == "refused"


def wrong_facts():
    """By the key of the facts that is wrong."""
    return {
        "kind": {"kind": "hazemap page"},
        "version": {"version": True},
        "round": {"round": "00000000-0000-4000-8000-000000000000"},
        "collection": {"collection": "bees"},
        "invitations": {"invitations": 29},
        "invitations_sha256": {"invitations_sha256": "0" * 64},
        "open_link": {"open_link": True},
        "reports_per_person": {"reports_per_person": 2},
        "least_reports": {"least_reports": 3},  # of which a tenth may not be honest
        "dishonest_share": {"dishonest_share": "1"},
        "least_honest": {"least_honest": None},
        "moments": {"closes_at": 1},
        "messages": {"messages": 2**30},
        "message_bytes": {"message_bytes": 1.0},
        "table_sha256": {"table_sha256": "0" * 64},
    }


def test_it_refuses_facts_that_do_not_hold_what_it_committed(shuffler, analyser):
    """All at once, as each takes a turn or two."""
    made = {name: analyser.plan(changes=changes) for name, changes in wrong_facts().items()}
    made |= {name: analyser.plan(of_shuffler={name: value}) for name, value in WRONG_SHUFFLER.items()}
    made["spelling"] = analyser.plan(spelling={})
    assert [name for name, one in made.items() if not is_refused(shuffler, one)] == []


def test_it_refuses_a_table_that_is_not_the_facts(shuffler, analyser):
    made = analyser.plan(table=b"another")
    assert is_refused(shuffler, made)


def test_a_round_that_is_refused_holds_up_no_other(shuffler, analyser):
    made = analyser.plan(refuses=True)
    wait_until(lambda: shuffler.state_of(made) == "prepared", "its commitment")
    shuffler.facts(analyser.plan())
    assert shuffler.state_of(made) == "prepared"
    assert "collection trees: the analyser refuses, status 422" in shuffler.output()
    del analyser.rounds[str(made.id)]


def test_it_refuses_a_round_that_another_shuffler_committed_to(shuffler, analyser):
    made = analyser.plan(commitment={"key": OTHER_KEY})
    assert is_refused(shuffler, made)


@pytest.mark.parametrize("terms", [{"most_invitations": 29}, {"least_reports": 31}])
def test_it_waits_where_people_and_places_do_not_fit(shuffler, analyser, terms):
    made = analyser.plan(**terms)
    wait_until(lambda: f"{made.id} of trees waits" in shuffler.output(), "its log")
    assert shuffler.state_of(made) is None
    del analyser.rounds[str(made.id)]


def test_it_reads_on_beside_rounds_that_cannot_be_read(shuffler, analyser):
    listed = analyser.rounds.copy()
    broken = analyser.plan(least_honest=3)
    broken.listed = lambda: {"round": "..", "state": "planned", "number": "1"}
    huge = analyser.plan()
    huge.listed = lambda: {**type(huge).listed(huge), "reports_per_person": 2**31 - 1}
    made = analyser.plan()
    shuffler.facts(made)
    assert shuffler.state_of(huge) is None
    for one in (broken, huge):
        del analyser.rounds[str(one.id)]
    assert set(listed) <= set(analyser.rounds)


def test_other_analysers_disturb_no_round(shuffler, analyser):
    """One never answers; one names a round that is not its own, as planned, then as cancelled."""
    made = analyser.plan()
    facts = shuffler.facts(made)
    key = (shuffler.files_of(made) / "key").read_bytes()
    with silent_listener() as silent, AnalyserPeer(shuffler.about).running() as thief:
        for state in ("planned", "cancelled"):
            stolen = PeerRound(number=1, collection="thief", opens_at=0, closes_at=2**40)
            stolen.id, stolen.state = made.id, state
            thief.rounds[state] = stolen
        shuffler.commands(
            shuffler.joining(silent, slug="silent"),
            shuffler.joining(thief.url, slug="thief"),
            ("enrol", "thief", "Somebody"),
        )
        wait_until(lambda: f"{made.id} of thief waits" in shuffler.output(), "its log")
        shuffler.facts(analyser.plan())
    assert (shuffler.files_of(made) / "key").read_bytes() == key
    assert shuffler.get(f"/rounds/{made.id}/facts.json").body == facts


def test_it_says_that_the_analyser_is_away(shuffler, analyser):
    analyser.is_away = True
    try:
        wait_until(lambda: "collection trees: the analyser does not answer" in shuffler.output(), "its log")
    finally:
        analyser.is_away = False
    shuffler.facts(analyser.plan())


@pytest.mark.long
def test_an_answer_that_does_not_end_is_left(shuffler, analyser):
    """`analyser.STEP_SECONDS` later the turn is over."""
    with silent_listener() as url:
        shuffler.commands(shuffler.joining(url, slug="mute"))
        wait_until(
            lambda: "collection mute: the analyser does not answer" in shuffler.output(), "its log", 40
        )
