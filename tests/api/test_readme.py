"""What README.md shows of the API works, with the token that the demo writes, on a server of its own."""

import json
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.services.installation import ROOT
from tests.services.programs import free_port

NEW = {
    "slug": "demo-city",
    "title": "City",
    "bbox": [0, 0, 1, 1],
    "relation": "add_remove",
    "limits": {"presence": "1"},
}
pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@pytest.fixture
def server(tmp_path, migrated_sqlite):
    """An address and its token, with a dataset of the demo's name that has a version."""
    made = migrated_sqlite.copied_to(tmp_path / "state")
    made.manage("createdemo", "--empty")
    token = re.search(r"^token=(\w+)$", (made.folder / "credentials").read_text(), re.MULTILINE)[1]
    address = f"http://127.0.0.1:{free_port()}"
    with made.running("manage.py", "serve", "--port", address.rsplit(":", 1)[1]):
        until(lambda: ask(address, token, "mechanisms/"))
        ask(address, token, "datasets/", NEW)
        ask(address, token, "datasets/demo-city/checkins/", [{"user": "a", "lat": 0.5, "lon": 0.5}])
        until(lambda: ask(address, token, "datasets/demo-city/")["version"])
        yield address, token


def ask(address, token, path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(path if "//" in path else f"{address}/api/v1/{path}", content, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def until(found):
    for _ in range(300):
        try:
            if found():
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError("it never came")


def test_it_asks_for_a_release_as_the_readme_does(server, tmp_path):
    address, token = server
    shown = re.search(r"```sh\n(curl -i .*?)```", Path(ROOT / "README.md").read_text(), re.DOTALL)[1]
    command = shown.replace("http://127.0.0.1:8000", address).replace(".local", str(tmp_path / "state"))

    answer = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True
    ).stdout

    assert answer.startswith("HTTP/1.1 202")
    release = re.search(r"(?im)^location: (\S+)", answer)[1]
    until(lambda: ask(address, token, release)["state"] == "published")
