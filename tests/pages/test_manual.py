"""The manual is served to everybody where it was built, and not linked where it was not."""

import pytest
from django.urls import reverse

from heatmaps.views.help.words import TOPICS
from tests.pages.policies import directives
from tests.services.installation import ROOT


@pytest.fixture
def built(settings, tmp_path):
    folder = tmp_path / "manual"
    (folder / "explanation").mkdir(parents=True)
    (folder / "index.html").write_text("<title>Manual</title>ε")
    (folder / "explanation" / "law.html").write_text("<title>Law</title>")
    (tmp_path / "secret").write_text("secret")
    settings.MANUAL_DIR = folder


@pytest.mark.usefixtures("built")
def test_it_is_served_under_our_policy_and_asked_for_anew(client_of):
    client = client_of("anonymous")
    first = client.get(reverse("manual"))
    page = client.get(reverse("manual-page", args=["explanation/law.html"]))
    again = client.get(reverse("manual"), headers={"if-modified-since": first["Last-Modified"]})

    assert b"".join(first.streaming_content).decode() == "<title>Manual</title>ε"
    assert first["Content-Type"] == "text/html; charset=utf-8"
    assert first["Cache-Control"] == "public, no-cache"
    assert directives(first)["script-src"] == "'self'"
    assert b"Law" in b"".join(page.streaming_content)
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path", ["../secret", "%2e%2e/secret", "explanation/", "explanation", "nothing.html"]
)
def test_nothing_else_is_served(client_of, path):
    assert client_of("anonymous").get(f"/help/manual/{path}").status_code in (400, 404)


@pytest.mark.usefixtures("built")
def test_the_help_links_it(client_of):
    client = client_of("anonymous")
    assert 'href="/help/manual/"' in client.get(reverse("help")).content.decode()
    for topic in TOPICS:
        page = client.get(reverse("help-topic", args=[topic.name])).content.decode()
        assert f'href="/help/manual/{topic.deeper}"' in page
        assert (ROOT / "docs" / topic.deeper).with_suffix(".md").is_file()


def test_without_a_build_the_help_says_how_to_get_it_and_links_nothing(client_of):
    page = client_of("anonymous").get(reverse("help")).content.decode()

    assert "<code>make docs</code>" in page
    assert "/help/manual/" not in page
    assert "/help/manual/" not in client_of("anonymous").get("/help/privacy/").content.decode()
    assert client_of("anonymous").get("/help/manual/").status_code == 404
