"""The page's folder, once for all tests that run it in node."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contribute.node import laid_out, run


@dataclass(frozen=True)
class PageCopy:
    """A copy that a test may break."""

    folder: Path

    def run(self, program, given=None, **options):
        return run(self.folder, program, given, **options)


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory):
    return laid_out(tmp_path_factory.mktemp("contribute") / "page")


@pytest.fixture
def node(page_folder):
    """The JSON that a program answers in node."""

    def evaluate(program, given=None, **options):
        return run(page_folder, program, given, **options)

    return evaluate


@pytest.fixture
def page_copy(tmp_path):
    def make():
        return PageCopy(laid_out(tmp_path / "page"))

    return make
