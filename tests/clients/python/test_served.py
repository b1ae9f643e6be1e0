"""The client and a server that really serves: what stands in the README, and what else people do."""

import io
import re
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from hazemap_client import BudgetExceeded, Client
from hazemap_client import connection as connection_module
from hazemap_client.errors import (
    BudgetChanged,
    Conflict,
    InvalidRequest,
    NotAuthenticated,
    NotFound,
    NotPublished,
)
from PIL import Image

from tests import geojson
from tests.clients.python.conftest import CLIENT
from tests.clients.python.hostile import losing_answers

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
HOSTILE = "\"><script>alert('1')</script><img src=x onerror=alert(2)>"
TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "img"}
MAP = {"mechanism": "laplace", "epsilon": "0.5", "resolution": 16}


@pytest.fixture(scope="module")
def panel(client):
    """A dataset of people who are enrolled, each at a place of their own; its title is hostile."""
    made = client.create_dataset(
        "panel", title=HOSTILE, bbox=(0, 0, 1, 1), relation="replace", persons=300, radius_m=50_000,
        limits={"record": 20, "radius": None, "delta": "0"},
    )  # fmt: skip
    when = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
    rows = [{"user": f"p{k}", "lat": 0.2 + k / 500, "lon": 0.5, "time": when} for k in range(300)]
    assert made.upload(rows).wait().rows_accepted == 300
    return client.dataset("panel")


@pytest.mark.long
def test_every_block_of_the_readme_works(server, client, in_a_town, monkeypatch, capsys):
    monkeypatch.setenv("HAZEMAP_TOKEN", server.token)
    blocks = BLOCK.findall((CLIENT / "README.md").read_text())
    known = {}
    for block in blocks:
        exec(compile(block.replace("https://hazemap.example", server.url), "README.md", "exec"), known)

    said = capsys.readouterr().out
    assert len(blocks) == 5
    assert "19999 rows stored, 1 rejected\n20001 lat is outside -90..90\n" in said
    assert "Centre: " in said
    assert said.splitlines()[-1] == "presence 9 3 3"
    assert known["shares"].shape == (64, 64)
    assert known["table"].crs == "EPSG:4326"
    assert 1000 < known["table"]["value"].sum() < 3000
    assert (in_a_town / "town.png").read_bytes().startswith(b"\x89PNG")
    assert known["town"].version is None  # as it was made
    assert client.dataset("town").version == 1
    assert [path.name for path in in_a_town.iterdir() if path.name[0] == "."] == []


def test_a_release_whose_answer_is_lost_is_paid_once(server, panel, monkeypatch):
    monkeypatch.setattr(connection_module, "PAUSES_S", (0, 0, 0))
    before, port = panel.budget()["record"].committed, int(server.url.rpartition(":")[2])
    with (
        losing_answers(port, of=b"POST /api/v1/datasets/panel/releases/", times=2) as (url, lost),
        Client(url, server.token) as client,
    ):
        made = client.dataset("panel").release(**MAP)
    assert len(lost) == 2
    assert all(b"202 Accepted" in answer and made.id.encode() in answer for answer in lost)
    charged = next(one.amount for one in made.charges if one.account == "record")
    assert panel.budget()["record"].committed == before + charged


def test_a_release_is_waited_for_until_its_moment_or_cancelled(panel):
    first, second = (
        panel.release(**MAP | {"epsilon": epsilon}) for epsilon in (Decimal("0.25"), Fraction(1, 8))
    )
    assert second.starts_at >= first.visible_at
    with pytest.raises(NotPublished, match="public at 20"):
        second.array()
    assert second.cancel().wait().state == "cancelled"
    first = first.wait(timeout_s=60)
    assert datetime.now(UTC) >= first.visible_at
    assert (first.state, first.array().shape) == ("published", (16, 16))
    with pytest.raises(Conflict):
        first.cancel()


@pytest.mark.long
@pytest.mark.parametrize(
    ("mechanism", "parameters", "number"),
    [
        ("exponential", {"spacing_m": 500.0}, "expected_m"),
        ("emd-zones", {"zones": geojson.zone("Harbour"), "margin_m": 9000}, "share"),
        ("emd-distances", {"places": geojson.place("Harbour")}, "distance_m"),
    ],
    ids=["point", "zones", "distances"],
)
def test_every_kind_of_result_is_read(panel, mechanism, parameters, number):
    release = panel.release(mechanism=mechanism, epsilon=1, parameters=parameters).wait()
    assert "±" in release.sentence
    assert "record" in release.sentence
    table, (row,) = release.geodataframe(), release.rows()
    assert table[number][0] == float(row[number])
    if mechanism == "exponential":
        assert 0 < float(row["expected_m"]) < float(row["within_m"])
        assert (table.geometry[0].y, table.geometry[0].x) == (float(row["lat"]), float(row["lon"]))
    else:
        assert row["name"] == table["name"][0] == "Harbour"
    with pytest.raises(InvalidRequest, match=r"\.npy is not allowed"):
        release.array()


@pytest.mark.long
def test_notebooks_show_what_people_wrote_as_text_and_the_map_as_a_picture(panel):
    release = panel.release(**MAP | {"epsilon": 0.75}, name=HOSTILE).wait()
    quote, areas = panel.quote(**MAP), release.people_in(geojson.zone(HOSTILE))
    for one in (panel, quote, panel.budget(), release, areas, next(panel.uploads())):
        page = Page(one._repr_html_())
        assert {name for name, _ in page.tags} <= TAGS
        assert {name for _, names in page.tags for name in names} <= {"scope", "alt", "width", "src"}
    assert "people enrolled300" in Page(panel._repr_html_()).text
    page = Page(release._repr_html_())
    image = next(attributes for name, attributes in page.tags if name == "img")
    assert HOSTILE in image["alt"]
    assert "ε = 0.75" in image["alt"]
    assert Image.open(io.BytesIO(release.file("png"))).size == release.picture(look="dark").size
    assert "whole record" in page.text  # the first sentence of the guarantee


def test_rights_are_told_apart(server, client, panel):
    release = panel.release(**MAP).wait()
    with Client(server.url, "") as stranger, Client(server.url, "0" * 64) as nobody:
        with pytest.raises(NotAuthenticated):
            stranger.release(release.id)
        with pytest.raises(NotAuthenticated):
            nobody.dataset("panel")
        with pytest.raises(NotFound):
            client.dataset("no-such-town")
        assert release.publish().public
        assert stranger.release(release.id).array().tolist() == release.array().tolist()
        release.publish(public=False)
    with pytest.raises(BudgetExceeded) as caught:
        panel.release(**MAP | {"epsilon": 19.9})
    assert caught.value.account == "record"
    assert caught.value.requested > caught.value.available > 0


def test_a_budget_that_somebody_changed_is_read_again_before_it_is_changed(panel):
    before = panel.budget()
    after = before.change({"delta": "1e-9"}, reason="agreed")
    assert (before["delta"].limit, after["delta"].limit) == (0, Decimal("1e-9"))
    with pytest.raises(BudgetChanged):
        before.change({"delta": 0}, reason="late")
    assert after.change({"radius": None, "delta": 0}, reason="in time")["radius"].limit is None


@pytest.mark.long
def test_a_file_is_streamed_with_its_progress_and_can_be_undone(client, in_a_town):
    town = client.create_dataset(
        "undone", title="Undone", bbox=(16.2, 48.1, 16.6, 48.3), relation="add_remove", limits={"presence": 1}
    )
    told = []
    made = town.upload(
        in_a_town / "checkins.csv", advance=False, progress=lambda sent, total: told.append((sent, total))
    )
    size = (in_a_town / "checkins.csv").stat().st_size
    assert told[-1] == (size, size)
    assert len(told) > 1
    assert made.wait().undo().state == "undone"
    assert [one.version for one in town.uploads(state="undone")] == [None]
    with (in_a_town / "checkins.csv").open("rb") as stream:
        assert town.upload(stream, max_rejected=0.01).wait().rows_accepted == 19_999
    assert next(town.events()).kind == "open"


class Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data
