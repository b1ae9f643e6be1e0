"""The operator's commands."""

import csv
import io
import stat
import xml.etree.ElementTree as ET

import pytest

from tests.shuffler.conftest import PEOPLE
from tests.shuffler.process import Shuffler


@pytest.fixture(scope="module")
def handed_out(pair, tmp_path_factory):
    """A round with two invitations each, whose links were written to files, twice; an open one's; what is."""
    shuffler, analyser = pair
    made, shown, open_link = (
        analyser.plan(**terms) for terms in ({"reports_per_person": 2}, {}, {"open_link": True})
    )
    for one in (made, shown, open_link):
        shuffler.facts(one)
    folder = tmp_path_factory.mktemp("links")
    secrets = {one.number: shuffler.secrets(one) for one in (made, shown)}
    write = ("invitations", "trees", made.number, "--output", folder / "links.csv", "--qr", folder / "codes")
    told = shuffler.commands(
        ("invitations", "trees", made.number, "--output", folder / "no" / "links.csv"),
        write,
        write,
        ("invitations", "trees", shown.number),
        ("invitations", "trees", open_link.number),
        ("invitations", "trees", 10**6),
        ("status",),
    )
    return made, shown, open_link, folder, secrets, told


def links_of(shuffler, made, secrets):
    return [
        {"name": name, "link": f"{shuffler.url}/contribute/#{made.id}.{secret}"} for name, secret in secrets
    ]


def test_it_writes_links_and_codes(shuffler, handed_out):
    made, _, _, folder, secrets, told = handed_out
    assert told[1] == ("", "")
    rows = list(csv.DictReader(io.StringIO((folder / "links.csv").read_text())))
    files = [row.pop("file") for row in rows]
    assert rows == links_of(shuffler, made, secrets[made.number])
    assert [row["name"] for row in rows] == [name for name in PEOPLE for _ in range(2)]
    assert sorted(files) == sorted(path.name for path in (folder / "codes").iterdir())
    assert ET.parse(folder / "codes" / files[0]).getroot().tag.endswith("svg")
    for path in (folder / "links.csv", folder / "codes" / files[0]):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_hands_links_out_once(shuffler, handed_out):
    made, _, _, _, _, told = handed_out
    assert told[0][1].endswith("the links are still there")
    assert told[2][1] == "the links of this round were handed out; they are stored nowhere"
    assert not (shuffler.files_of(made) / "secrets").exists()


def test_it_shows_links(shuffler, handed_out):
    _, shown, _, _, secrets, told = handed_out
    assert list(csv.DictReader(io.StringIO(told[3][0]))) == links_of(shuffler, shown, secrets[shown.number])


def test_an_open_link_has_no_secret(shuffler, handed_out):
    _, _, open_link, _, _, told = handed_out
    assert told[4] == (f"name,link\n,{shuffler.url}/contribute/#{open_link.id}\n", "")


def test_it_refuses_links_of_no_round(handed_out):
    assert handed_out[-1][5][1] == "trees has no round 1000000 that people can be invited to"


def test_it_says_what_is(shuffler, analyser, handed_out):
    made, _, open_link, _, _, told = handed_out
    lines = told[6][0].splitlines()
    assert f"trees at {analyser.url}: 30 enrolled" in lines
    assert f"  round {made.number} ({made.id}): ready, 0 of 60 reports, 4 needed" in lines
    assert f"  round {open_link.number} ({open_link.id}): ready, 0 of 100 reports, 4 needed" in lines


def test_people_come_and_go(tmp_path):
    shuffler = Shuffler(tmp_path)
    (tmp_path / "names.txt").write_text("\ufeffAda\n\n Jos\u00e9 \nAda\n")
    told = shuffler.commands(
        ("enrol", "trees", "Ada"),
        shuffler.joining("https://maps.example"),
        ("enrol", "trees", tmp_path / "names.txt", "Bo"),
        ("enrol", "trees", "Bo", "Cem"),
        ("remove", "trees", "Bo"),
        ("remove", "trees", "Bo"),
        ("people", "trees"),
        ("enrol", "trees", "=1+1"),
        ("enrol", "trees", "x" * 201),
        shuffler.joining("https://maps.example", token="another"),
        shuffler.joining("https://other.example"),
        shuffler.joining("http://maps.example", slug="bees"),
        shuffler.joining("https://maps.example?x", slug="bees"),
        shuffler.joining("https://maps.example", slug="b/s"),
        ("makemigrations", "--check", "--dry-run"),  # would end the process
    )
    printed, refusals = zip(*told, strict=True)
    assert printed[2:4] == ("3 enrolled, 0 were already.\n", "1 enrolled, 1 were already.\n")
    assert printed[6] == "Ada\nCem\nJos\u00e9\n"
    assert [place for place, refusal in enumerate(refusals) if refusal] == [0, 5, 7, 8, 10, 11, 12, 13]
    assert "Bo" not in refusals[5]
    (token,) = (shuffler.state / "tokens").iterdir()
    assert token.read_text() == "another"
    paths = [shuffler.state, *shuffler.state.rglob("*")]
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in paths}
    assert modes == {(True, 0o700), (False, 0o600)}
