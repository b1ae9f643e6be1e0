"""While the installation is on hold nothing that its database revives can be used."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.urls import reverse
from django.utils import timezone

from heatmaps.http import health
from heatmaps.models import HoldCause, Installation
from heatmaps.people import embedding
from heatmaps.record import hold
from heatmaps.releases import publication
from tests.addresses import names

LABEL = "the database was restored from a backup"


@pytest.fixture
def on_hold(db):
    hold.put(HoldCause.RESTORED)


@pytest.fixture
def public(people, published):
    publication.set_public(people["steward"], published, public=True)
    embedding.change(people["steward"], published.dataset, ["https://news.example"], reason="agreed")
    return published


def test_every_page_says_so(client_of, addresses, on_hold):
    for person in ("steward", "administrator", "anonymous"):
        client = client_of(person)
        for name, address in addresses.items():
            answer = client.get(address)
            assert answer.status_code == 503, (person, name)
            text = answer.content.decode()
            assert "This server is on hold" in text
            assert "<code>manage.py resume</code>" in text
            assert LABEL in text
            assert answer["Cache-Control"] == "no-store"
            assert not answer.cookies


def test_it_takes_no_form(client_of, people, on_hold):
    client = client_of("anonymous")
    for address in (reverse("account_login"), reverse("account_logout"), "/admin/", "/nothing/"):
        assert client.post(address, {"login": "steward", "password": "x"}).status_code == 503


def test_a_public_map_is_gone(client_of, public, on_hold):
    client = client_of("anonymous")
    about = {"release": [], "embed": [], "release-map": [], "release-download": ["json"]}
    for name, more in about.items():
        assert client.get(reverse(name, args=[public.pk, *more])).status_code == 503, name
    assert client.get(reverse("public")).status_code == 503


def test_programs_read_a_problem(client_of, public, on_hold):
    client = client_of("anonymous")
    for address in (
        reverse("api:datasets"),
        reverse("api:release", args=[public.pk]),
        reverse("gis:collections"),
        reverse("gis:tilejson", args=[public.pk]),
        reverse("api:schema"),
        "/api/v1/nothing/",
    ):
        answer = client.get(address, headers={"Authorization": "Bearer x"})
        assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json"), address
        problem = answer.json()
        assert (problem["code"], problem["status"], problem["title"]) == (
            "on_hold",
            503,
            "Service Unavailable",
        )
        assert problem["detail"].startswith("This server is on hold until its operator says what happened")


def test_it_has_the_headers_of_every_answer(client_of, on_hold):
    answer = client_of("anonymous").get("/")

    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["X-Request-ID"] in answer.content.decode()


def test_it_writes_nothing_and_asks_once(client_of, on_hold, django_assert_num_queries):
    client = client_of("steward")
    with django_assert_num_queries(1) as told:
        client.get("/")
    assert told.captured_queries[0]["sql"].startswith("SELECT")


def test_health_says_why(client_of, on_hold, monkeypatch):
    monkeypatch.setattr(health._memory, "last", None)
    monkeypatch.setattr(health._memory, "processes", dict)

    answer = client_of("anonymous").get("/healthz")

    assert answer.status_code == 503
    assert answer.json() == {"status": "unavailable", "reason": f"on hold: {LABEL}", "missing": []}


def test_it_ends_with_the_hold(client_of, addresses, on_hold):
    Installation.objects.update(held_since=None, hold_cause="")

    assert client_of("steward").get(addresses["dataset"]).status_code == 200


def test_a_database_that_is_away_at_first_stays_away(client_of, people, dataset, monkeypatch):
    """Nobody knows whether there is a hold: what it answers a moment later is not used."""

    def away():
        raise OperationalError("away")

    client = client_of("steward", raise_request_exception=False)
    program = client_of("anonymous")
    monkeypatch.setattr(hold, "cause", away)
    page = client.get(reverse("dataset", args=[dataset.slug]))
    problem = program.get(reverse("api:datasets"), headers={"Authorization": "Bearer x"})

    assert page.status_code == 503
    assert "The database does not answer" in page.content.decode()
    assert (problem.status_code, problem.json()["code"]) == (503, "unavailable")
    assert program.get("/sign-in/").status_code == 200  # as without a database
    assert connection.execute_wrappers == []


def test_the_demo_is_not_made(on_hold, tmp_path, settings):
    settings.STATE_DIR = tmp_path
    with pytest.raises(CommandError, match="on hold"):
        call_command("createdemo")


# --- what waits for an operator, after the machine was started anew -----------------------------------

WAITS = "This server was started anew"


@pytest.fixture
def started_anew(start_later, queued):
    hold.installation()
    Installation.objects.update(confirm_before=timezone.now())
    return queued


@pytest.mark.parametrize("person", ["steward", "administrator"])
def test_it_tells_who_may_ask_the_operator(client_of, started_anew, person):
    client = client_of(person)
    for address in (
        reverse("home"),
        reverse("dataset", args=[started_anew.dataset.slug]),
        reverse("dataset-releases", args=[started_anew.dataset.slug]),
        reverse("release", args=[started_anew.pk]),
    ):
        assert client.get(address).content.decode().count(WAITS) == 1, address


@pytest.mark.parametrize("person", ["analyst", "auditor"])
def test_others_see_it_queued_as_always(client_of, started_anew, person):
    client = client_of(person)
    page = client.get(reverse("release", args=[started_anew.pk])).content.decode()
    home = client.get(reverse("home")).content.decode()
    tab = client.get(reverse("dataset", args=[started_anew.dataset.slug])).content.decode()

    assert "<h2>Queued</h2>" in page
    assert WAITS not in page + home + tab


def test_what_waits_is_not_cancelled(client_of, started_anew):
    """It may have been drawn: its charge stays."""
    client = client_of("analyst")
    assert (
        "give the budget back" not in client.get(reverse("release", args=[started_anew.pk])).content.decode()
    )

    client.post(reverse("release-cancel", args=[started_anew.pk]))

    started_anew.refresh_from_db()
    assert started_anew.state == "reserved"


def test_nothing_waits_that_was_asked_later(client_of, started_anew):
    Installation.objects.update(confirm_before=started_anew.requested_at - timedelta(seconds=1))
    client = client_of("steward")
    for address in (reverse("home"), reverse("release", args=[started_anew.pk])):
        assert WAITS not in client.get(address).content.decode()


def test_home_tells_no_steward_of_other_datasets(client_of, people, started_anew, make_dataset):
    started_anew.dataset.memberships.filter(user=people["steward"]).update(user=people["stranger"])

    assert WAITS not in client_of("steward").get(reverse("home")).content.decode()
    assert WAITS in client_of("stranger").get(reverse("home")).content.decode()


def test_it_knows_every_address_of_programs():
    """By the names of their applications: a third one would be answered a page."""
    spaces = {name.split(":")[0] for name, _ in names() if ":" in name}
    assert spaces == {"admin", "api", "gis"}
