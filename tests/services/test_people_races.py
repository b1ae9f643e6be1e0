"""Two at the same moment: no dataset loses its last steward, no link is used twice."""

import pytest

ROUNDS = 4


@pytest.mark.parametrize("act", ["leave", pytest.param("close", marks=pytest.mark.long)])
def test_a_steward_is_left(installation, act):
    """Both leave; or one leaves while the other's account is closed."""
    for told in installation.script("people_race", act, ROUNDS):
        assert told["stewards"] == 1, told
        assert told["outcomes"] == ["", "LastSteward"]
        assert told["problem"] == ""


@pytest.mark.long
def test_nothing_stays_reserved_for_who_is_removed_meanwhile(installation):
    """Three threads ask: what they reserve before is cancelled, and nothing is after."""
    for told in installation.script("people_race", "ask", ROUNDS):
        assert told["outcomes"] == ["", "Http404", "Http404", "Http404"], told
        assert (told["queued"], told["committed"], told["problem"]) == (0, 0, ""), told


def test_an_invitation_makes_one_member(installation):
    for told in installation.script("people_race", "accept", ROUNDS):
        assert told["analysts"] == 1, told
        assert told["outcomes"] == [""] + ["NoSuchLink"] * 5
        assert told["problem"] == ""


def test_names_that_look_alike_are_given_once(installation):
    for told in installation.script("people_race", "join", ROUNDS):
        assert told["outcomes"] == ["", "IntegrityError"], told


@pytest.mark.long
def test_a_form_that_is_sent_several_times_sets_up_one_app(installation):
    for told in installation.script("people_race", "app", 2):
        assert told["outcomes"] == [""] * 4, told


def test_a_password_is_chosen_once(installation):
    for told in installation.script("people_race", "reset", ROUNDS):
        assert told["outcomes"] == [""] + ["LinkDead"] * 3, told


@pytest.mark.long
def test_codes_at_the_same_moment_get_no_more_tries(installation):
    for told in installation.script("people_race", "guess", 1):
        assert told["outcomes"] == [""] * 10 + ["PermissionError"] * 9, told


@pytest.mark.long
def test_reads_by_administrators_are_one_chain(installation):
    for told in installation.script("people_race", "read", ROUNDS):
        assert told["outcomes"] == [""] * 8
        assert told["reads"] == [1, 2, 3, 4, 5, 6, 7, 8]
        assert told["problem"] == ""
