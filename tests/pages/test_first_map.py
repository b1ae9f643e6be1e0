"""The way to a first map: dataset, file, map; each page says where somebody is and what comes next."""

import re

import pytest
from django.urls import reverse

from tests.pages.word_count import words_of

NEW = {"title": "First", "relation": "add_remove", "presence_limit": "4"}
MOST_WORDS = 900
BOX = {"west": "0", "south": "0", "east": "1", "north": "1"}


@pytest.fixture
def data_tab(client_of):
    def get(slug, person="steward", **query):
        return client_of(person).get(reverse("dataset-data", args=[slug]), query).content.decode()

    return get


def step_of(body):
    return re.findall(r'<li aria-current="step">(\w+)</li>', body)


def test_a_new_dataset_leads_to_its_file_in_few_words(client_of, people):
    answer = client_of("analyst").post(reverse("dataset-new"), NEW | BOX, follow=True)

    body = answer.content.decode()
    assert step_of(body) == ["File"]
    assert "Add a file" in body
    assert "Ask for a map" not in body
    assert 20 < len(words_of(body)) <= 150


def test_data_lead_to_a_map(data_tab, dataset):
    body = data_tab(dataset.slug)

    assert step_of(body) == ["Map"]
    assert f'href="{reverse("release-new", args=[dataset.slug])}">Ask for a map' in body
    assert step_of(data_tab(dataset.slug, "analyst")) == []


def test_the_way_ends_at_the_first_map(data_tab, published):
    body = data_tab(published.dataset.slug)

    assert "Steps to a first map" not in body
    assert "Ask for a map" not in body


def test_what_few_need_comes_on_demand(data_tab, dataset):
    plain, reading, opt_outs = (
        data_tab(dataset.slug, **query) for query in ({}, {"show": "reading"}, {"show": "opt-outs"})
    )

    assert ["Time zone of times" in body for body in (plain, reading, opt_outs)] == [False, True, False]
    assert ["Users, as the files" in body for body in (plain, reading, opt_outs)] == [False, False, True]
    for body in (plain, reading):  # where its script writes which columns were chosen
        assert body.count('name="columns"') == 1


def test_the_whole_way_is_read_in_few_words(client_of, dataset, counted, question, data_tab):
    """Each page that somebody sees from home to a public map."""
    steward, newcomer = client_of("steward"), client_of("stranger")
    ready = data_tab(dataset.slug).replace("</main>", "Ask for a map Dataset File Map</main>")
    quote = steward.get(
        reverse("release-new", args=[dataset.slug]), question(mechanism="adaptive", epsilon="0.6")
    )
    pages = {
        "home": newcomer.get(reverse("home")).content.decode(),
        "new": newcomer.get(reverse("dataset-new")).content.decode(),
        "data": ready,
        "quote": quote.content.decode(),
        "release": steward.get(reverse("release", args=[counted.pk])).content.decode(),
        "publication": steward.get(reverse("release-publication", args=[counted.pk])).content.decode(),
    }
    words = {name: len(words_of(page, apart={"map-table"})) for name, page in pages.items()}

    assert sum(words.values()) <= MOST_WORDS, words
