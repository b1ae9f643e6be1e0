"""The standalone page as text: one script that runs, one style, a policy that allows these two alone."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from heatmaps.exports import html
from tests.exports.examples import ATTACK, make_released, written


class Elements(HTMLParser):
    """Start tags with their attributes, and the text of scripts that run and of styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if not self.tags or not data.strip():
            return
        tag, attributes = self.tags[-1]
        if tag in {"script", "style"} and "type" not in attributes:
            self.texts.append((tag, data))


@pytest.fixture(scope="module")
def text():
    return written(".html", make_released()).decode()


def test_it_names_no_other_file(text):
    elements = Elements(text)
    for tag, attributes in elements.tags:
        assert tag not in {"link", "iframe", "base", "object", "embed", "form"}
        assert not {"src", "href", "srcset", "style"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    assert "sourceMappingURL" not in text
    assert "/static/" not in text


def test_its_policy_allows_its_own_script_and_style_only(text):
    elements = Elements(text)
    (policy,) = [a["content"] for tag, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == directives["base-uri"] == directives["form-action"] == "'none'"
    assert directives["img-src"] == "data:"
    for element in ("script", "style"):
        (content,) = [content for tag, content in elements.texts if tag == element]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert directives[f"{element}-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy
    assert text.index("Content-Security-Policy") < text.index("<title>")


def test_it_escapes_what_people_typed():
    found = written(".html", make_released(title=ATTACK)).decode()
    assert "owned" in found
    tags = [tag for tag, _ in Elements(found).tags]
    assert tags.count("script") == 2  # one is data
    assert tags.count("style") == tags.count("title") == 1
    assert "img" not in tags
    assert "{{ 7 }}" in found


@pytest.mark.parametrize("piece", ["</script >", "</SCRIPT", "<!-- x", "a\r\nb"])
def test_it_refuses_a_script_that_would_not_stay_in_its_element(monkeypatch, piece):
    monkeypatch.setattr(html, "asset", lambda name: piece)
    with pytest.raises(ValueError, match="would not stay"):
        written(".html", make_released())


def test_it_says_what_the_sheet_says(text):
    assert "ε = 0.5 (presence), δ = 0" in text
    assert "<dd>2026-11-20</dd>" in text
    assert "<li>A person is there or not.</li>" in text
    assert re.search(r"What is not protected", text)
    assert not re.search(r"\d\d:\d\d:\d\d", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))
