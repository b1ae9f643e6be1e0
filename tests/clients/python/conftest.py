"""A server of its own for a file of tests, and a client that a steward has there."""

import re
from dataclasses import dataclass

import pytest
from hazemap_client import Client

from tests.services.installation import ROOT

CLIENT = ROOT / "clients" / "python"


@dataclass(frozen=True)
class Server:
    url: str
    token: str


@pytest.fixture(scope="module")
def server(tmp_path_factory, world):
    """`manage.py serve` with the accounts of the demo and no dataset."""
    made = world.installation(tmp_path_factory.mktemp("served"))
    made.manage("createdemo", "--empty")
    token = re.search(r"^token=(\w+)$", (made.folder / "credentials").read_text(), re.MULTILINE)[1]
    with made.serving() as started:
        yield Server(started.address, token)
    assert "Traceback" not in made.output()


@pytest.fixture(scope="module")
def client(server):
    with Client(server.url, server.token) as made:
        yield made


@pytest.fixture
def in_a_town(tmp_path, monkeypatch):
    """A folder to work in, with a file of 2,000 people; 1 of 20,000 rows cannot be read."""
    monkeypatch.chdir(tmp_path)
    rows = [f"p{k % 2000},,{48.15 + k % 97 / 970},{16.3 + k % 89 / 890}" for k in range(19_999)]
    (tmp_path / "checkins.csv").write_text("\n".join(["user,time,lat,lon", *rows, "p1,,99,16.4"]))
    return tmp_path
