"""The cost while a question is asked: the same as the page's, and only what was shown is spent."""

import re
from html import unescape

import pytest
from django.urls import reverse

from heatmaps.models import Event, Release
from heatmaps.wording import release as release_words
from tests.pages.questions import ZONES
from tests.pages.word_count import words_of

QUOTE = re.compile(r'<section class="card" id="quote".*?</section>\s*</div>', re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
ONCE = re.compile(r'name="(?:key|csrfmiddlewaretoken)" value="[^"]*"')


@pytest.fixture
def address(dataset):
    return reverse("release-new", args=[dataset.slug])


def quote_of(answer):
    """The panel, but for what is of one page alone."""
    return ONCE.sub("", QUOTE.search(answer.content.decode())[0])


@pytest.mark.parametrize(
    "typed", [{}, {"epsilon": "1.75"}, {"error_m": "30000"}, {"epsilon": "x"}, {"act": "more"}]
)
def test_it_is_the_quote_of_the_page(client_of, address, question, queued, typed):
    analyst, before = client_of("analyst"), Event.objects.count()
    asked = question(mechanism="adaptive") | typed
    page, live = analyst.get(address, asked), analyst.get(address, asked | {"live": "1"})
    assert page.status_code == live.status_code
    assert quote_of(page) == quote_of(live)
    assert "<html" not in live.content.decode()
    assert Event.objects.count() == before


def test_what_was_gathered_is_quoted_as_well(client_of, panel):
    analyst, address = client_of("analyst"), reverse("release-zones", args=[panel.slug])
    asked = {"act": "quote", "epsilon": "1", "zones": ZONES.text}
    page, live = (analyst.post(address, asked | more) for more in ({}, {"live": "1"}))
    assert quote_of(page) == quote_of(live)
    assert not Release.objects.exists()


def test_it_spends_what_was_shown_whatever_is_typed_meanwhile(client_of, address, question):
    analyst = client_of("analyst")
    shown = analyst.get(address, question(epsilon="0.25", live="1")).content.decode()
    spend = shown[shown.index('id="spend"') :]
    analyst.get(address, question(epsilon="1.5", live="1"))  # typed since, and not looked at
    analyst.post(address, {name: unescape(value) for name, value in HIDDEN.findall(spend)})
    assert Release.objects.get().epsilon.as_integer_ratio() == (1, 4)


def test_another_mechanism_brings_its_own_fields(client_of, address):
    live = client_of("analyst").get(address, {"mechanism": "sparse-emd", "live": "1"}).content.decode()
    assert 'name="sparse-emd.width"' in live
    assert 'data-epsilon="1"' in live


@pytest.mark.parametrize("page", ["release-new", "release-zones", "release-distances"])
@pytest.mark.parametrize("opened", [[], ["part"], ["method"], ["protect"]])
def test_no_page_of_asking_is_long(client_of, panel, page, opened):
    answer = client_of("analyst").get(reverse(page, args=[panel.slug]), {"open": opened})
    assert len(words_of(answer.content.decode())) <= 480  # and a quote of at most 120


@pytest.mark.parametrize("mechanism", ["adaptive", "sparse-emd", "dense-emd", "emd-linear"])
def test_with_all_folds_open_it_is_not_long_either(client_of, panel, question, mechanism):
    asked = question(mechanism=mechanism, open=["part", "method", "protect"], since="2026-01-01")
    answer = client_of("analyst").get(reverse("release-new", args=[panel.slug]), asked)
    assert answer.context["quote"] is not None
    assert len(words_of(answer.content.decode())) <= 600


def test_the_promise_beside_the_price_is_the_one_of_the_release(client_of, address, question):
    analyst = client_of("analyst")
    shown = analyst.get(address, question(live="1"))
    analyst.post(address, question(act="spend", key="one"))
    promise = release_words.promise_of(Release.objects.get())
    assert "one person is in the data changes the chance" in promise
    assert promise in unescape(shown.content.decode())


def test_every_mechanism_opens_with_a_promise_that_is_one(client_of, panel):
    address, analyst = reverse("release-new", args=[panel.slug]), client_of("analyst")
    page = analyst.get(address, {"open": "method"}).content.decode()
    names = re.findall(r'name="mechanism" value="([\w-]+)"', page)
    assert "emd-linear" in names
    for name in names:
        live = analyst.get(address, {"mechanism": name, "live": "1"})
        if live.context["quote"] is not None:
            assert "million million" not in live.content.decode(), name
            assert all(line.affordable for line in live.context["quote"].lines if line.before.limit != "0"), (
                name
            )
