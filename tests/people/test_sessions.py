"""Sessions: what the database holds of them opens none."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from heatmaps.people import accounts
from heatmaps.people.sessions import SessionStore, stored_key


def test_what_is_stored_signs_nobody_in(client_of):
    client = client_of("analyst")
    key = client.cookies["sessionid"].value

    stored = Session.objects.get()

    assert stored.session_key == stored_key(key) != key
    assert key not in stored.session_data
    thief = Client()
    thief.cookies["sessionid"] = stored.session_key
    assert thief.get(reverse("account")).status_code == 302
    assert client.get(reverse("account")).status_code == 200


def test_it_keeps_changes_and_deletes(db):
    session = SessionStore()
    session["a"] = 1
    session.save()
    again = SessionStore(session.session_key)
    again["a"] += 1
    again.save()
    assert SessionStore(session.session_key)["a"] == 2
    assert session.exists(session.session_key)

    again.cycle_key()

    assert not session.exists(session.session_key)
    assert SessionStore(again.session_key)["a"] == 2
    again.flush()
    assert not Session.objects.exists()


@pytest.mark.parametrize("key", ["\ud800" * 40, "x" * 10_000, ""])
def test_any_cookie_is_no_session(db, key):
    assert dict(SessionStore(key or None).load()) == {}


def test_others_of_ones_own_end(client_of, people):
    mine, other, stranger = client_of("analyst"), client_of("analyst"), client_of("stranger")

    accounts.end_sessions(people["analyst"], but=mine.session.session_key)

    told = [client.get(reverse("account")).status_code for client in (mine, other, stranger)]
    assert told == [200, 302, 200]
