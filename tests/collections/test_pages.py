"""The pages of a collection: its rounds, planning one, and making a collection."""

from datetime import timedelta
from threading import BoundedSemaphore

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from heatmaps.children import turns
from heatmaps.collections import handover, rounds
from heatmaps.collections.collection import of_token
from heatmaps.models import Dataset, Round
from tests.services import seed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(steward, dataset):
    client = Client()
    client.force_login(steward)
    return client


def address(name, *arguments):
    return reverse(name, args=["walks", *arguments])


def question(**changes):
    opens_at = timezone.now() + timedelta(days=2)
    moments = {"opens_at": opens_at, "closes_at": opens_at + timedelta(days=1)}
    plain = {
        "mechanism": "geo-shuffle",
        "epsilon": "2",
        "delta": "0.000001",
        "reports_per_person": "1",
        "least_honest": "20",
        "dishonest_share": "0.05",
        **{name: f"{moment:%Y-%m-%dT%H:%M}" for name, moment in moments.items()},
    }
    return plain | changes


def test_it_shows_the_cost_before_anything_is_reserved(page):
    answer = page.post(address("dataset-rounds"), question(act="quote"))
    text = answer.content.decode()
    assert "What it costs" in text
    assert "University" in text
    assert "22 reports" in text
    assert "dishonest reports of 22 can move the result by at most" in text
    assert not Round.objects.exists()


def test_it_plans_a_round_and_lists_it(page):
    asked = question()
    seen = page.post(address("dataset-rounds"), asked | {"act": "quote"}).context["quote"].fingerprint
    answer = page.post(address("dataset-rounds"), asked | {"act": "plan", "seen": seen}, follow=True)
    assert "Round 1 is planned" in answer.content.decode()
    assert "waits for its shuffler" in answer.content.decode()
    assert Round.objects.get().least_honest == 20


def test_what_is_wrong_is_said_beside_its_field(page):
    answer = page.post(address("dataset-rounds"), question(act="plan", least_honest="41"))
    assert answer.status_code == 422
    assert "least_honest" in answer.context["form"].errors
    assert not Round.objects.exists()


def test_it_cancels_until_the_opening(page, steward, dataset):
    seed.plan_round(steward, dataset)
    answer = page.post(address("round-cancel", 1), follow=True)
    assert "Round 1 is cancelled" in answer.content.decode()
    again = page.post(address("round-cancel", 1), follow=True)
    assert "can be cancelled until it opens" in again.content.decode()


def test_a_token_is_shown_once(page, dataset):
    answer = page.post(address("shuffler-token"))
    token = answer.context["token"]
    assert token in answer.content.decode()
    assert of_token(token) == dataset.collection
    assert token not in page.get(address("dataset-rounds")).content.decode()
    assert not any(token in str(item) for item in page.session.items())


def test_analysts_read_and_do_not_plan(analyst, dataset, steward, shuffler):
    client = Client()
    client.force_login(analyst)
    planned = seed.plan_round(steward, dataset)
    handover.fix(planned.pk, shuffler.part())
    text = client.get(address("dataset-rounds")).content.decode()
    assert "ready" in text
    assert "Plan a round" not in text
    assert "40 invited" in text
    for name, arguments in (("round-cancel", [1]), ("shuffler-token", [])):
        assert client.post(address(name, *arguments)).status_code == 403
    assert client.post(address("dataset-rounds"), question(act="plan")).status_code == 403


def test_a_busy_server_keeps_what_was_typed(page, monkeypatch):
    monkeypatch.setattr(turns, "_turns", BoundedSemaphore(1))
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.01)
    with turns.turn():
        answer = page.post(address("dataset-rounds"), question(epsilon="1.25"))
    assert answer.status_code == 422
    assert "busy" in answer.context["form"].non_field_errors()[0]
    assert answer.context["form"]["epsilon"].value() == "1.25"


def test_strangers_learn_nothing(dataset, django_user_model):
    client = Client()
    client.force_login(django_user_model.objects.create_user("stranger"))
    assert client.get(address("dataset-rounds")).status_code == 404


def test_there_is_nothing_to_upload(page):
    for name in ("dataset-data", "dataset", "dataset-releases", "dataset-budget", "ledger"):
        answer = page.get(address(name))
        assert answer.status_code == 200
        assert "Add data" not in answer.content.decode()
        assert "New release" not in answer.content.decode()
    assert page.post(address("upload-new")).status_code == 403


def test_a_collection_is_made_at_the_page(page):
    typed = {
        "title": "Bus stops",
        "west": "-98",
        "south": "30",
        "east": "-97.8",
        "north": "30.2",
        "relation": "add_remove",
        "source": "devices",
        "question": "Where did you wait?",
        "analyser_operator": "City office",
        "shuffler_operator": "University",
        "shuffler_url": "https://shuffler.example",
        "persons": "100",
        "radius_m": "600",
        "record_limit": "",
        "radius_limit": "10",
    }
    answer = page.post(reverse("dataset-new"), typed, headers={"host": "localhost:8000"})
    made = Dataset.objects.get(slug="bus-stops")
    assert answer["Location"] == reverse("dataset-rounds", args=["bus-stops"])
    assert made.is_collection
    assert made.relation == "replace"
    assert made.collection.analyser_url == "http://localhost:8000"
    assert made.accounts.get(kind="delta").limit > 0


def test_a_collection_needs_its_roles(page):
    typed = {"title": "Bus stops", "west": "-98", "south": "30", "east": "-97.8", "north": "30.2"}
    typed |= {
        "relation": "replace",
        "source": "devices",
        "persons": "9",
        "radius_m": "600",
        "radius_limit": "1",
    }
    answer = page.post(reverse("dataset-new"), typed)
    assert answer.status_code == 422
    assert "question" in answer.context["form"].errors
    assert not Dataset.objects.filter(slug="bus-stops").exists()


def test_the_sheet_names_who_took_part(page, steward, dataset, shuffler):
    planned = seed.plan_round(steward, dataset)
    handover.fix(planned.pk, shuffler.part())
    text = page.get(reverse("release-sheet", args=[planned.pk])).content.decode()
    assert "University" in text
    assert "do not work together" in text
    assert "nobody can check that" in text
    assert rounds.round_of(dataset, 1).facts_sha256


def test_what_changed_since_its_cost_was_shown_is_shown_again(page):
    asked = question()
    seen = page.post(address("dataset-rounds"), asked | {"act": "quote"}).context["quote"].fingerprint
    answer = page.post(address("dataset-rounds"), asked | {"act": "plan", "seen": seen, "epsilon": "3"})
    assert "changed something" in answer.content.decode()
    assert not Round.objects.exists()


def test_what_does_not_fit_is_said_and_cannot_be_reserved(page):
    text = page.post(address("dataset-rounds"), question(act="quote", epsilon="20", reports_per_person="1"))
    assert "does not fit" not in text.content.decode()
    text = page.post(address("dataset-rounds"), question(act="quote", mechanism="emd-itemwise", epsilon="20"))
    assert text.status_code in (200, 422)
    over = page.post(
        address("dataset-rounds"),
        question(act="quote", mechanism="frequency", epsilon="11", delta="", reports_per_person="2"),
    )
    assert "does not fit" in over.content.decode()
    assert "Reserve and plan" not in over.content.decode()


def test_moments_that_cannot_be_are_marked_with_the_rest(page):
    answer = page.post(
        address("dataset-rounds"),
        question(act="quote", epsilon="x", opens_at="2020-01-01T00:00", closes_at="2019-01-01T00:00"),
    )
    assert {"opens_at", "closes_at"} <= set(answer.context["form"].errors)


def test_a_round_of_a_mechanism_that_gives_points_of_files_is_of_a_map(page, steward, dataset):
    """`geo-local` of stored check-ins releases a point, of devices a map."""
    planned = seed.plan_round(
        steward, dataset, mechanism="geo-local", epsilon="12", delta=None, parameters={}, resolution=8
    )
    text = page.get(reverse("release", args=[planned.pk])).content.decode()
    assert "The map appears at" in text
    assert "Map, ε 12" in page.get(address("dataset-releases")).content.decode()
