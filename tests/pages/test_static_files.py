"""Styles and scripts of the pages lie where the program was installed, and nothing else is served as such."""

import shutil
from pathlib import Path

import pytest
from django.test import Client
from whitenoise.middleware import WhiteNoiseMiddleware

PLANTED = {
    "evil.html": "<script src=evil.js></script>",
    "evil.js": "fetch('/account/')",
    "hazemap/evil.js": "1",
}


@pytest.fixture
def planted(settings):
    """In the folder that was served once, by whoever writes into the state folder."""
    settings.WHITENOISE_AUTOREFRESH = False  # all files are looked up at the start
    folder = settings.STATE_DIR / "static"
    for name, text in PLANTED.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    yield
    shutil.rmtree(folder)


def test_what_lies_in_the_state_folder_is_not_served_after_a_start(planted, db):
    anonymous = Client()  # its first request starts the program's pages anew
    assert anonymous.get("/static/hazemap/map.css").status_code == 200
    assert {name: anonymous.get(f"/static/{name}").status_code for name in PLANTED} == dict.fromkeys(
        PLANTED, 404
    )


def test_no_file_is_served_from_a_folder_that_the_server_writes(planted, settings):
    served = WhiteNoiseMiddleware(lambda _request: None).files.values()
    paths = {Path(alternative[1]).resolve() for file in served for alternative in file.alternatives}
    assert paths
    written = [settings.STATE_DIR, settings.KEY_DIR, settings.RECORD_DIR, settings.RENDERED_DIR]
    assert [path for path in paths if any(path.is_relative_to(folder) for folder in written)] == []
