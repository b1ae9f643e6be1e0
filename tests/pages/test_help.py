"""The help: a short start page, topics with addresses of their own, and old links that still lead there."""

import re

import pytest
from django.conf import settings
from django.urls import reverse

from heatmaps.result_kinds import RESULT_KINDS
from heatmaps.views.help.words import EXAMPLES, TOPICS
from heatmaps.wording.mechanism_choice import USUAL, who
from mechanisms.catalogue import local
from mechanisms.catalogue.registry import entries
from tests.pages.word_count import words_of

START, TOPIC, ALL = 250, 450, 1430  # words; one page had 2,711
# What other pages, files and people link to on the page that was one.
OLD_ANCHORS = {
    *("person", "relation", "epsilon", "distance", "delta", "budget", "people", "files", "districts"),
    *("comparison", "point", "zones", "distances", "trusted", "error", "state", "moments"),
}
GROUP = re.compile(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>")


@pytest.fixture
def topics(client_of):
    client = client_of("anonymous")
    return {topic.name: client.get(reverse("help-topic", args=[topic.name])) for topic in TOPICS}


@pytest.fixture
def start(client_of):
    return client_of("anonymous").get(reverse("help")).content.decode()


def text_of(answer):
    return " ".join(words_of(answer.content.decode()))


def test_the_help_is_short(client_of, topics):
    start = len(words_of(client_of("steward").get(reverse("help")).content.decode()))
    lengths = {name: len(words_of(answer.content.decode())) for name, answer in topics.items()}

    assert 100 < start <= START
    assert {name: length for name, length in lengths.items() if not 50 < length <= TOPIC} == {}
    assert start + sum(lengths.values()) <= ALL


def test_every_word_and_every_old_link_leads_to_its_explanation(start, topics):
    links = re.findall(r'<a id="([\w-]+)" href="/help/(\w+)/(?:#([\w-]+))?"', start)
    assert {anchor for anchor, _, _ in links} >= OLD_ANCHORS
    for anchor, topic, place in links:
        page = topics[topic].content.decode()
        assert topics[topic].status_code == 200
        assert place in ("", anchor)
        assert not place or page.count(f'id="{place}"') == 1


def test_no_other_topic_is_there(client_of):
    assert client_of("anonymous").get("/help/nothing/").status_code == 404


def test_it_shows_what_epsilon_means(start):
    bars = re.findall(r'<th scope="row">([\d.]+)</th>.*?x="50%" width="([\d.]+)%".*?>([\d.]+) %</td>', start)
    assert [epsilon for epsilon, _, _ in bars] == list(EXAMPLES)
    assert ("1", "23.2", "73.2") in bars
    assert all(50 + float(gain) == pytest.approx(float(right)) for _, gain, right in bars)


def test_it_says_who_is_trusted_where_that_is_not_this_server_alone(topics):
    page = topics["trust"].content.decode()
    said = {title: text for text, titles in GROUP.findall(page) for title in titles.split("; ")}
    for entry in entries():
        assert entry.title in said or who(entry) == USUAL
    for entry in (one for one in entries() if one.title in said):
        assert said[entry.title].lower() == who(entry)
        assert "simulates" in who(entry)
    reports = {said[entry.title] for entry in local.entries()}
    assert reports == {"Nobody, if the device blurs a place itself; this server, if it blurs a file"}
    assert "Its operator and the dataset’s stewards can read check-ins" in page


def test_it_says_why_results_appear_at_fixed_moments_and_what_is_limited(topics):
    assert "How long a draw takes depends on the data" in text_of(topics["results"])
    questions = settings.MOST_QUESTIONS_A_DAY
    assert f"{questions['person']} per person, {questions['dataset']} per dataset" in text_of(
        topics["budget"]
    )
    assert "least ε is 0.001." in text_of(topics["budget"])


def test_it_lists_every_file(topics):
    page = topics["files"].content.decode()
    for known in RESULT_KINDS["heatmap"].formats.values():
        assert f"<strong>{known.title}</strong> (<code>{known.suffix}</code>)" in page
