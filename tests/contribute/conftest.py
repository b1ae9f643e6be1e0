"""The page's folder, once for all tests that run it in node."""

import pytest

from tests.contribute.node import laid_out, run


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory):
    return laid_out(tmp_path_factory.mktemp("contribute") / "page")


@pytest.fixture
def node(page_folder):
    """The JSON that a program answers in node."""

    def evaluate(program, given=None, **options):
        return run(page_folder, program, given, **options)

    return evaluate
