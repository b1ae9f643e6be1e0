"""The manual as `make docs` builds it, once for all tests of it."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.services.installation import ROOT
from tests.services.programs import found_or_skip


class Mkdocs:
    @staticmethod
    def missing():
        return "" if find_spec("material") else "what `make docs` builds with is not installed"


@pytest.fixture(scope="session")
def manual(tmp_path_factory):
    """The folder of the manual, built strictly: a warning is an error."""
    found_or_skip(Mkdocs)
    folder = tmp_path_factory.mktemp("manual") / "site"
    options = ["--strict", "--quiet", "--config-file", "docs/manual/mkdocs.yml", "--site-dir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder
