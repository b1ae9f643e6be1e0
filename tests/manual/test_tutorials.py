"""What tutorials, how-to guides and the README show works, line by line, against one server with the demo.

The page of lakes needs Spark, and a server that knows its table.
"""

import contextlib
import os
import signal
from pathlib import Path

import pytest

from tests.manual.blocks import README, RUN, Reader, blocks, documents
from tests.services.installation import ROOT
from tests.services.programs import found_or_skip, free_port
from tests.sources.spark import Spark

pytestmark = pytest.mark.long
LAKE = Path("tutorials/lake.md")
FOLLOWED = [
    document
    for document in documents()
    if document != LAKE and any(block.language in RUN and not block.elsewhere for block in blocks(document))
]


@pytest.fixture(scope="module")
def site(tmp_path_factory, world):
    """The state folder and the address of a server with the demo, which draws at once."""
    made = world.installation(tmp_path_factory.mktemp("tutorials"))
    made.manage("createdemo")
    with made.serving() as server:
        yield made.folder, server.address


@pytest.fixture
def reader(site, tmp_path):
    state, address = site
    return Reader(folder=checkout(tmp_path, state), address=address)


def checkout(folder, state):
    """As it is after `make run`."""
    folder.mkdir(exist_ok=True)
    for name in ("manage.py", ".venv", "clients", "build"):
        (folder / name).symlink_to(ROOT / name)
    (folder / ".local").symlink_to(state)
    return folder


@pytest.mark.parametrize("document", FOLLOWED, ids=lambda document: document.stem)
def test_it_works_as_it_is_told(reader, document):
    if document == README:  # which makes a map of its reader's own file
        rows = "".join(f"{person},,30.3,-97.7\n" for person in range(300))
        (reader.folder / "checkins.csv").write_text("user,time,lat,lon\n" + rows)
    reader.follow(document)


@pytest.mark.timeout(1200)
def test_a_table_becomes_a_map(world, tmp_path):
    found_or_skip(Spark)
    made = world.installation(tmp_path)
    made.manage("createdemo", "--empty")
    folder = checkout(tmp_path / "checkout", made.folder)
    made.others |= {
        "HAZEMAP_SOURCES": str(folder / "lake" / "sources.toml"),
        "HAZEMAP_SOURCE_SLOT_SECONDS": "5",
    }
    with made.serving() as server, spark_ends(folder):
        Reader(folder=folder, address=server.address, others={"15002": str(free_port())}).follow(LAKE)


@contextlib.contextmanager
def spark_ends(folder):
    """Also where the page is not followed to its end."""
    try:
        yield
    finally:
        pid = folder / "lake" / "spark" / "pid"
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(pid.read_text()), signal.SIGKILL)


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse\n```\n",
        "```sh\necho yes\n```\n\n```text\nno\n```\n",
        "```python\n1 / 0\n```\n",
    ],
)
def test_what_fails_and_what_is_answered_otherwise_is_found(reader, monkeypatch, text):
    monkeypatch.setattr("tests.manual.blocks.text_of", lambda _: text)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        reader.follow("x.md")
