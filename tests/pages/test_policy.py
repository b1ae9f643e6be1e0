"""The content security policy holds on every page, and what people type stays text."""

import html
import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.urls import reverse

from heatmaps.models import Dataset, Upload
from tests.pages.policies import directives

ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7|add:7 }}"


class Document(HTMLParser):
    """Tags with their attributes, in order."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def pages(client, addresses):
    for name, address in addresses.items():
        answer = client.get(address)
        if answer["Content-Type"].startswith("text/html"):
            yield name, answer


def test_it_sends_a_strict_policy_with_every_answer(client_of, addresses):
    client = client_of("steward")
    for name, address in addresses.items():
        policy = directives(client.get(address))
        assert policy["default-src"] == "'none'"
        for sources in policy.values():
            assert "unsafe" not in sources, name
            assert not re.search(r"https?:|\*", sources), name


def test_it_gives_every_script_and_style_the_nonce_of_its_answer(client_of, addresses):
    for name, answer in pages(client_of("steward"), addresses):
        allowed = re.findall(r"'nonce-([^']+)'", answer["Content-Security-Policy"])
        inline = [
            attributes
            for tag, attributes in Document(answer.content.decode()).tags
            if (tag == "script" and not {"src", "type"} & set(attributes)) or tag == "style"
        ]
        for attributes in inline:
            assert attributes.get("nonce") in allowed, name
    assert inline is not None


def test_it_uses_another_nonce_each_time(client_of, addresses):
    client = client_of("steward")
    nonces = {
        re.search(r"'nonce-([^']+)'", client.get(addresses["release-map"])["Content-Security-Policy"])[1]
        for _ in range(3)
    }

    assert len(nonces) == 3


def test_it_writes_no_style_and_no_handler_attributes(client_of, addresses):
    for name, answer in pages(client_of("steward"), addresses):
        for tag, attributes in Document(answer.content.decode()).tags:
            assert "style" not in attributes, (name, tag)
            assert not [key for key in attributes if key.startswith("on")], (name, tag)


def test_it_has_no_template_with_style_or_handler_attributes():
    """Also in the parts that none of the pages above happens to show."""
    templates = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
    assert len(templates) > 20
    for path in templates:
        for tag, attributes in Document(path.read_text()).tags:
            wrong = [key for key in attributes if key == "style" or key.startswith("on")]
            assert not wrong, (path.name, tag)


def test_it_names_no_other_origin(client_of, addresses):
    for name, answer in pages(client_of("steward"), addresses):
        for tag, attributes in Document(answer.content.decode()).tags:
            for key in ("src", "href", "action", "data"):
                assert not re.match(r"(https?:)?//", attributes.get(key) or ""), (name, tag)


def test_it_shows_what_people_typed_as_text(client_of, addresses, dataset, upload, people):
    Dataset.objects.filter(pk=dataset.pk).update(title=ATTACK[:120])
    Upload.objects.filter(pk=upload.pk).update(file_name=ATTACK, failure=ATTACK)
    people["analyst"].username = "<img src=y onerror=alert(3)>"
    people["analyst"].save()

    seen = 0
    for name, answer in pages(client_of("steward"), addresses):
        body = answer.content.decode()
        seen += html.escape(ATTACK[:20]) in body
        assert "<script>alert" not in body, name
        assert not [tag for tag, attributes in Document(body).tags if "onerror" in attributes], name
    assert seen >= 7


def test_it_refuses_an_attack_as_an_address(client_of):
    typed = {"title": "x", "slug": ATTACK, "relation": "add_remove", "presence_limit": "1"}
    box = {"west": "0", "south": "0", "east": "1", "north": "1"}

    answer = client_of("analyst").post(reverse("dataset-new"), typed | box)

    assert answer.status_code == 422
    assert "<script>alert" not in answer.content.decode()


@pytest.mark.parametrize("name", ["release-new", "dataset-new", "limit-change"])
def test_it_echoes_nothing_unescaped(client_of, addresses, name):
    fields = ("epsilon", "title", "west", "new_limit", "limit", "reason", "mechanism")
    client = client_of("steward")
    for answer in (
        client.get(addresses[name], dict.fromkeys(fields, ATTACK)),
        client.post(addresses[name], dict.fromkeys(fields, ATTACK)),
    ):
        assert "<script>alert" not in answer.content.decode()
        assert "<img src=x" not in answer.content.decode()
