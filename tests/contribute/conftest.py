"""The page's folder for tests in node; two roles, rounds and people's browsers for those in Chromium."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.browser.chromium import PATIENCE_MS
from tests.contribute.node import laid_out, require, run
from tests.contribute.roles import both
from tests.contribute.rounds import Round


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


@dataclass
class Visit:
    """A person's browser: what it asked for, and what it complained of."""

    context: object
    asked: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    def page(self):
        made = self.context.new_page()
        made.set_default_timeout(PATIENCE_MS)
        return made


@pytest.fixture(scope="module")
def roles():
    require()
    with both() as (shuffler, analyser):
        yield shuffler, analyser


@pytest.fixture
def invite(roles):
    """A round at both roles, and a link to it."""
    shuffler, analyser = roles

    def make(mechanism="planar-geometric", **options):
        made = Round(mechanism, analyser_url=analyser.url, shuffler_url=shuffler.url, **options)
        analyser.rounds[made.id] = made
        return made, shuffler.invite(made)

    return make


@pytest.fixture
def visit(chromium, roles):
    """A browser of a person's own; at the end it asked nobody but the two roles, and the policy held."""
    visits = []

    def make(**options):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        made = Visit(context)
        visits.append(made)
        # Playwright takes no built-in function.
        context.on("request", lambda request: made.asked.append(request))  # noqa: PLW0108
        context.on("weberror", lambda error: made.complaints.append(str(error.error)))
        context.add_init_script(
            "addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => "
            "setTimeout(() => { throw new Error(`${violatedDirective} ${blockedURI}`); }))"
        )
        return made

    yield make
    urls = [request.url for one in visits for request in one.asked]
    complaints = [words for one in visits for words in one.complaints]
    for one in visits:
        one.context.close()
    assert [url for url in urls if not url.startswith((roles[0].url, roles[1].url))] == []
    assert complaints == []
