"""What tutorials, how-to guides and the README show works, line by line, against one server with the demo."""

import pytest

from tests.browser.conftest import healthy
from tests.manual.blocks import README, RUN, Reader, blocks, documents
from tests.services.installation import ROOT
from tests.services.programs import free_port, wait_until

pytestmark = pytest.mark.long
FOLLOWED = [
    document
    for document in documents()
    if any(block.language in RUN and not block.elsewhere for block in blocks(document))
]


@pytest.fixture(scope="module")
def site(tmp_path_factory, migrated_sqlite):
    """The state folder and the address of a server with the demo, which draws at once."""
    made = migrated_sqlite.copied_to(tmp_path_factory.mktemp("tutorials") / "state")
    made.manage("createdemo")
    address = f"http://127.0.0.1:{free_port()}"
    with made.running("manage.py", "serve", "--port", address.rsplit(":", 1)[1]):
        wait_until(lambda: healthy(address), seconds=120, what="the server answering")
        yield made.folder, address


@pytest.fixture
def reader(site, tmp_path):
    """In a folder as a checkout is after `make run`."""
    state, address = site
    for name in ("manage.py", ".venv", "clients"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".local").symlink_to(state)
    return Reader(folder=tmp_path, address=address)


@pytest.mark.parametrize("document", FOLLOWED, ids=lambda document: document.stem)
def test_it_works_as_it_is_told(reader, document):
    if document == README:  # which makes a map of its reader's own file
        rows = "".join(f"{person},,30.3,-97.7\n" for person in range(300))
        (reader.folder / "checkins.csv").write_text("user,time,lat,lon\n" + rows)
    reader.follow(document)


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
