"""`make lock` renews the images: the newest patch of each line, by digest, or a line says that it did not."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.deployment.registry import Images, serving
from tests.services.installation import ROOT
from tests.services.programs import free_port

COMPOSE = """services:
  web:
    image: hazemap:0.1.0
  postgres:
    image: postgres:17.6-bookworm
  redis:
    image: redis:7.2.11-bookworm@sha256:{old}
""".replace("{old}", "0" * 64)
PYTHON = "python:3.11.14-slim-bookworm"
DOCKERFILE = f"FROM {PYTHON} AS packages\nFROM packages AS ground\nFROM {PYTHON}\n"
# By repository; the first is the newest of its line.
TAGS = {
    "postgres": "17.10-bookworm 17.9-bookworm 17.6-bookworm 18.1-bookworm 17-bookworm 17.11-alpine",
    "redis": "7.2.16-bookworm 7.2.11-bookworm 7.4.9-bookworm 7.2.17-rc1-bookworm 7.2-bookworm",
    "python": "3.11.14-slim-bookworm 3.11.9-slim-bookworm 3.12.1-slim-bookworm 3.11.15-slim-trixie",
}
MADE = datetime.now(UTC) - timedelta(days=41, hours=1)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / ".docker").mkdir()
    (tmp_path / "docker-compose.yml").write_text(COMPOSE)
    (tmp_path / ".docker/Dockerfile").write_text(DOCKERFILE)
    return tmp_path


@pytest.fixture
def images():
    stored = Images()
    for name, tags in TAGS.items():
        for place, tag in enumerate(tags.split()):
            created = MADE - timedelta(days=400 * bool(place))
            stored.add(f"library/{name}", tag, f"{created:%Y-%m-%dT%H:%M:%S}.123456789Z")
    return stored


def renewed(folder, registry):
    """What is said, line by line; then both files."""
    run = subprocess.run(
        [sys.executable, ROOT / ".docker/images.py", folder],
        env=os.environ | {"IMAGE_REGISTRY": registry},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    files = (folder / "docker-compose.yml").read_text(), (folder / ".docker/Dockerfile").read_text()
    return run.stdout.splitlines(), *files


def test_it_takes_the_newest_patch_of_each_line_by_digest_and_says_how_old_it_is(folder, images):
    with serving(images) as registry:
        said, compose, dockerfile = renewed(folder, registry)
        again = renewed(folder, registry)
    day = f"{MADE:%Y-%m-%d}"
    assert said == [
        f"postgres:17.6-bookworm becomes 17.10-bookworm, made {day}, 41 days ago",
        f"python:3.11.14-slim-bookworm is the newest, made {day}, 41 days ago",
        f"redis:7.2.11-bookworm becomes 7.2.16-bookworm, made {day}, 41 days ago",
    ]
    digests = {name: images.newest[f"library/{name}"] for name in TAGS}
    assert compose.split() == [
        *["services:", "web:", "image:", "hazemap:0.1.0", "postgres:", "image:"],
        f"postgres:17.10-bookworm@{digests['postgres']}",
        *["redis:", "image:", f"redis:7.2.16-bookworm@{digests['redis']}"],
    ]
    python = f"{PYTHON}@{digests['python']}"
    assert dockerfile == f"FROM {python} AS packages\nFROM packages AS ground\nFROM {python}\n"
    assert again[1:] == (compose, dockerfile)
    assert set(images.tokens_elsewhere) == {None}  # a token is for the registry alone


def test_an_answer_that_is_not_what_its_digest_says_changes_nothing(folder, images):
    images.spoil()
    with serving(images) as registry:
        answer = renewed(folder, registry)
    assert answer == (
        ["Images were not renewed: an answer is not what its digest says."],
        COMPOSE,
        DOCKERFILE,
    )


def test_a_registry_that_is_behind_changes_nothing(folder, images):
    del images.tags["library/redis"]["7.2.16-bookworm"], images.tags["library/redis"]["7.2.11-bookworm"]
    with serving(images) as registry:
        answer = renewed(folder, registry)
    assert answer == (
        ["Images were not renewed: no tag is as new as 7.2.11-bookworm."],
        COMPOSE,
        DOCKERFILE,
    )


@pytest.mark.parametrize("registry", ["", "http://registry.example", "http://127.0.0.1:{closed}"])
def test_without_a_registry_one_line_says_that_nothing_was_renewed(folder, registry):
    said, *files = renewed(folder, registry.format(closed=free_port()))
    assert len(said) == 1
    assert said[0].startswith("Images were not renewed: ")
    assert files == [COMPOSE, DOCKERFILE]
