"""Naming releases on pages: with the question, later, and for everybody."""

import pytest
from django.urls import reverse

from heatmaps.models import Release
from heatmaps.releases import names
from heatmaps.releases.names import Label


@pytest.fixture
def at(published):
    return lambda name: reverse(name, args=[published.pk])


def release_now():
    return Release.objects.get()


def test_a_question_takes_a_name_and_refuses_a_bad_one_before_anything_is_spent(client_of, dataset, question):
    ask, analyst = reverse("release-new", args=[dataset.slug]), client_of("analyst")
    refused = analyst.post(ask, question(name="a\u202eb"))
    assert refused.status_code in (409, 422)
    assert "a\\u202eb is not allowed here. Allowed: at most 80 visible" in refused.content.decode()
    assert not Release.objects.exists()
    assert analyst.post(ask, question(name="Nights", note="one\r\ntwo")).status_code == 302
    assert (release_now().name, release_now().note) == ("Nights", "one\ntwo")


def test_whoever_asked_names_it_later_and_only_a_steward_says_who_reads_it(client_of, people, published, at):
    analyst, steward = client_of("analyst"), client_of("steward")
    assert at("release-name") in analyst.get(at("release")).content.decode()
    assert at("release-name") not in client_of("auditor").get(at("release")).content.decode()
    long = analyst.post(at("release-name"), {"name": "x" * 81})
    assert (long.status_code, release_now().name) == (422, "")
    analyst.post(at("release-name"), {"name": "Nights", "public": "on"})
    assert (release_now().name, release_now().is_name_public) == ("Nights", False)
    assert "Show the name" not in steward.get(at("release-name")).content.decode()  # it is not public
    steward.post(at("release-publication"), {"public": "yes"})
    assert not release_now().is_name_public
    assert "Show the name" in steward.get(at("release-name")).content.decode()
    steward.post(at("release-name"), {"name": "Nights", "public": "on"})
    assert release_now().is_name_public
    steward.post(at("release-name"), {"name": "Nights"})
    assert not release_now().is_name_public
    assert "Show the name" not in analyst.get(at("release-name")).content.decode()
    analyst.post(at("release-name"), {"name": "Days", "public": "on"})
    assert (release_now().name, release_now().is_name_public) == ("Days", False)


def test_a_steward_shows_the_text_that_was_read_while_making_it_public(client_of, people, published, at):
    names.rename(people["analyst"], published, Label(name="Nights", note="one\ntwo"))
    steward = client_of("steward")
    assert "Show the name and note publicly" in steward.get(at("release-publication")).content.decode()
    sent = {"public": "yes", "show_name": "yes", "name": "Nights"}
    steward.post(at("release-publication"), sent | {"note": "another"})
    turned = steward.post(at("release-publication"), sent | {"name": "a\u202eb"})
    assert turned.status_code == 302
    assert (release_now().public_since, release_now().is_name_public) == (None, False)
    steward.post(at("release-publication"), sent | {"note": "one\r\ntwo"})
    assert release_now().public_since
    assert release_now().is_name_public


def test_lists_tell_releases_apart(client_of, people, published, at):
    listed = client_of("auditor").get(reverse("dataset-releases", args=["city"])).content.decode()
    assert "<bdi>Map, ε 0.5</bdi>" in listed
    assert "Sparse reconstruction" in listed
    assert "16 × 16 cells" in listed
    assert "<title>Map, ε 0.5 · " in client_of("auditor").get(at("release")).content.decode()


def test_names_stand_apart_from_the_words_around_them(client_of, people, published):
    """Whatever their direction of writing, and however long a word."""
    names.rename(people["analyst"], published, Label(name="\u05d0\u200f"))
    for page in ("dataset", "dataset-releases", "dataset-budget", "ledger"):
        told = client_of("steward").get(reverse(page, args=["city"])).content.decode()
        assert "<bdi>\u05d0\u200f</bdi>" in told, page
