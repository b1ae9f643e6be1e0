"""Quotes that take long: refused in time, one at a time a person, and nobody else waits for them."""

import pytest
from django.test import Client
from django.urls import reverse

from heatmaps.releases import calibration

QUESTION = {"mechanism": "exponential", "epsilon": "0.5", "parameters": {"spacing_m": "2500"}}


@pytest.fixture(autouse=True)
def anew():
    calibration._remembered.clear()


def quote(client, dataset, **changes):
    return client.send("POST", "quotes", dataset.slug, body=QUESTION | changes)


def test_a_quote_that_takes_too_long_says_so(api, panel, settings):
    settings.PLANNING_SECONDS = 0.0

    answer = quote(api("analyst"), panel)

    assert (answer.status_code, answer.json()["code"]) == (503, "planning_takes_long")
    assert answer["Retry-After"] == "5"


def test_a_second_quote_at_once_is_refused(api, panel, people):
    analyst = api("analyst")
    with calibration.for_person(people["analyst"].pk):
        calibration._asking.get().take()  # as a question does that is being planned
        answer = quote(analyst, panel)
        asked = analyst.send("POST", "releases", panel.slug, body=QUESTION)
        flat = quote(analyst, panel, mechanism="laplace", resolution=16, parameters={})
        other = quote(api("steward"), panel)
    again = quote(analyst, panel)

    assert (answer.status_code, answer.json()["code"]) == (429, "one_quote_at_a_time")
    assert (asked.status_code, answer["Retry-After"]) == (429, "5")
    assert [one.status_code for one in (flat, other, again)] == [200, 200, 200]
    assert panel.releases.count() == 0


def test_a_page_says_so_too(people, panel, settings):
    settings.PLANNING_SECONDS = 0.0
    client = Client()
    client.force_login(people["analyst"])

    page = client.get(
        reverse("release-new", args=[panel.slug]),
        {"mechanism": "exponential", "epsilon": "0.5", "spacing_m": "2500"},
    )

    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "Nothing was spent" in page.content.decode()
