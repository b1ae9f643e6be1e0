"""The commands: what they say, what they send."""

import io

import pytest
from hazemap_device.__main__ import main

from tests.clients.rounds import KINDS, Round


@pytest.fixture
def run(served, tmp_path, capsys):
    def call(*arguments):
        code = main(["--state", str(tmp_path / "state"), *arguments])
        written = capsys.readouterr()
        return code, written.out + written.err

    return call


def test_show_says_what_is_asked_and_what_it_costs(served, run):
    code, said = run("show", served.link)
    assert code == 0
    assert "All 2 reports together: ε = 1, δ = 2.649e-6." in said
    for words in (
        "Ways to work: round 3", "Where do you work?", "City", "Union", "ε = 0.5, δ = 1.000e-6",
        "up to 600 metres apart guesses right in at most 63 of 100", "any two places: no bound",
        "do not work together.", "If they do, it is ε = 7, δ = 0:", "right in at most 100 of 100",
        "Messages of one report: 104, 5.1 kB",
    ):  # fmt: skip
        assert words in said
    assert served.packets == []


def test_show_says_where_one_operator_has_both_roles(served, run):
    assert "same operator" not in run("show", served.link)[1]
    served.round.facts["shuffler"]["operator"] = "CITY"
    served.round.facts["loss_alone"] = served.round.facts["loss"]
    said = run("show", served.link)[1]
    assert "same operator" in said
    # The loss of the facts is then what is left without a shuffler.
    assert "holds without the mixing" in said
    assert "do not work together" not in said


def test_what_a_server_says_cannot_move_the_cursor(served, run):
    served.round.facts["title"] = "A\x1b[2J\u202eB\n"
    assert "A [2J B : round" in run("show", served.link)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_an_example_is_three_draws_and_sends_nothing(kind, served, run):
    served.round = Round(KINDS[kind](), url=served.url)
    code, said = run("example", served.link, "--place", "-48.2,16.3")
    assert code == 0
    assert len(said.splitlines()) == 5
    assert "Nothing was sent" in said
    assert served.packets == []
    assert run("sent")[1] == "Nothing was sent.\n"


def test_examples_are_fresh_draws(served, run):
    served.round = Round(KINDS["shares"](), url=served.url)
    said = run("example", served.link, "--place", "48.2,16.3")[1].splitlines()[1:4]
    assert len(set(said)) == 3


def test_a_report_is_sent_after_a_yes_alone(served, run, monkeypatch):
    for answer, packets in (("n\n", 0), ("", 0), ("y\n", 1)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        code, said = run("report", served.link, "--place", "48.2,16.3")
        assert code == 0
        assert "One report costs" in said
        assert len(served.packets) == packets
    assert "Receipt: " in said


def test_other_facts_than_those_that_were_shown_are_refused(served, run, monkeypatch):
    class Input:
        def readline(self):
            served.round.facts["loss"]["epsilon"] = "9"
            return "y"

    monkeypatch.setattr("sys.stdin", Input())
    code, said = run("report", served.link, "--place", "48.2,16.3")
    assert code == 1
    assert "facts changed" in said
    assert served.packets == []


def test_show_says_where_a_link_leads_elsewhere(served, run):
    assert "another address" not in run("show", served.link)[1]
    served.round.facts["shuffler"]["url"] = "https://union.example"
    assert served.url + "/shuffler" in run("show", served.link)[1].splitlines()[-1]


def test_places_are_read_from_a_file_and_a_link_from_the_input(served, run, monkeypatch, tmp_path):
    served.round = Round(KINDS["items"](), url=served.url)
    (tmp_path / "places").write_text("48.2,16.3\n\n48.3,16.4\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(served.link + "\n"))
    assert run("report", "-", "--places", str(tmp_path / "places"), "--yes")[0] == 0
    assert len(served.packets) == 1


def test_several_places_where_one_is_asked_for_are_refused_before_anything_is_counted(served, run, tmp_path):
    (tmp_path / "places").write_text("48.2,16.3\n48.3,16.4\n")
    code, said = run("report", served.link, "--places", str(tmp_path / "places"), "--yes")
    assert (code, said) == (1, "This round asks for one place only. Give one.\n")
    assert run("sent")[1] == "Nothing was sent.\n"


def test_sent_lists_reports_and_what_they_cost_together(served, run):
    for _ in range(2):
        run("report", served.link, "--place", "48.2,16.3", "--yes")
    said = run("sent")[1]
    assert said.count("round 3: received, ε = 0.5, δ = 1.000e-6 at 600 metres") == 2
    # δ · (1 + e^0.5), rounded up: both are mixed with each other.
    assert "Together: ε = 1, δ = 2.649e-6, each place up to 600 metres off." in said


def test_leave_stops_reports_and_can_be_undone(served, run):
    assert run("leave", "commute")[0] == 0
    assert run("report", served.link, "--place", "48.2,16.3", "--yes")[0] == 1
    run("leave", "commute", "--undo")
    assert run("report", served.link, "--place", "48.2,16.3", "--yes")[0] == 0


def test_a_round_of_another_analyser_than_named_is_refused(served, run):
    code, said = run("--analyser", "https://maps.example", "show", served.link)
    assert code == 1
    assert "not of the analyser" in said
    assert run("--analyser", f"{served.url}/analyser/", "show", served.link)[0] == 0
