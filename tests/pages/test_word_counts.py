"""Pages stay short: the most words that each may deliver, folded and unseen ones included."""

from functools import partial

import pytest
from django.urls import reverse

from heatmaps.people import embedding
from heatmaps.releases import publication
from tests.pages.word_count import RELEASE, released_words, words_of

# The map's own document and the map as a table are apart.
MOST = {
    "home": 60,
    "dataset-new": 160,
    "blur": 240,
    "release": RELEASE,
    "publication": 70,
    "release-name": 40,
    "comparable": 60,
    "release-new": 280,
    "quote": 280,
    "dataset": 60,
    "dataset-releases": 80,
    "dataset-data": 250,
    "dataset-data-of-others": 120,
    "dataset-budget": 150,
    "people": 170,
    "ledger": 200,
    "spending": 220,
    "allowances": 230,
}
TABS = ("dataset", "dataset-releases", "dataset-data", "dataset-budget", "people", "ledger")


@pytest.fixture
def answers(client_of, dataset, counted, question):
    steward, ask = client_of("steward"), reverse("release-new", args=[dataset.slug])

    def make(name):
        return {
            "home": lambda: steward.get(reverse("home")),
            "dataset-new": lambda: steward.get(reverse("dataset-new")),
            "blur": lambda: steward.get(reverse("blur", args=[dataset.slug])),
            "release-new": lambda: steward.get(ask),
            "quote": lambda: steward.get(ask, question(mechanism="adaptive", epsilon="0.6")),
            "release": lambda: steward.get(reverse("release", args=[counted.pk])),
            "publication": lambda: steward.get(reverse("release-publication", args=[counted.pk])),
            "release-name": lambda: steward.get(reverse("release-name", args=[counted.pk])),
            "comparable": lambda: steward.get(reverse("release-comparable", args=[counted.pk])),
            "dataset-data-of-others": lambda: client_of("analyst").get(
                reverse("dataset-data", args=[dataset.slug])
            ),
            **{
                tab: partial(steward.get, reverse(tab, args=[dataset.slug]))
                for tab in (*TABS, "spending", "allowances")
            },
        }[name]()

    return make


@pytest.mark.parametrize(("name", "most"), MOST.items())
def test_a_page_is_short(answers, name, most):
    page = answers(name).content.decode()

    assert 20 < len(words_of(page, apart={"map-table"})) <= most


def test_a_public_map_is_short_for_everybody(client_of, people, counted, dataset):
    embedding.change(people["steward"], dataset, ["https://news.example"], reason="x")
    publication.set_public(people["steward"], counted, public=True)
    for name in ("steward", "analyst", "auditor", "administrator", "anonymous"):
        page = client_of(name).get(reverse("release", args=[counted.pk])).content.decode()
        assert 80 < len(released_words(page)) <= RELEASE, name
    hidden = client_of("steward").get(reverse("release-publication", args=[counted.pk])).content.decode()
    assert len(words_of(hidden)) <= MOST["publication"]


def test_folded_and_unseen_words_count_and_scripts_do_not():
    shown = "<p>One <b class=unseen>two</b><details>three</details><br>four"
    page = f"<p>no</p><main>{shown}<script>no</script></main>no"

    assert words_of(page) == ["One", "two", "three", "four"]
