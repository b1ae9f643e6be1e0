"""Readable pages where something went wrong."""

import re

import pytest
from django.urls import reverse

from heatmaps.models import PeopleRules


def test_it_says_what_role_is_needed(client_of, dataset):
    answer = client_of("analyst").get(reverse("ledger", args=[dataset.slug]))

    assert answer.status_code == 403
    assert "this needs the role administrator or auditor or steward" in answer.content.decode()


def test_it_says_that_nothing_is_there(client_of):
    answer = client_of("analyst").get("/nothing/")

    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


def test_it_says_so_also_to_a_form_that_cannot_be_read(client_of):
    client = client_of("analyst", enforce_csrf_checks=True, raise_request_exception=False)
    client.get(reverse("mfa_index"))

    answer = client.generic("POST", "/nothing/", b"x", content_type="multipart/form-data")

    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


@pytest.mark.parametrize(("address", "status"), [("/sign-in/", 403), ("/nothing/", 404)])
def test_a_form_in_another_encoding_is_read_as_utf8(client_of, address, status):
    client = client_of("anonymous", enforce_csrf_checks=True, raise_request_exception=False)
    client.get(reverse("account_login"))
    named = "application/x-www-form-urlencoded; charset=utf-16"

    answer = client.generic("POST", address, b"login=ann", content_type=named)

    assert answer.status_code == status


def test_a_reason_is_said_once(client_of):
    """Pages that nobody sees before the next one say why each time."""
    PeopleRules.objects.create(pk=PeopleRules.ONLY, second_factor=True)
    client = client_of("analyst")
    for _ in range(5):
        assert client.get(reverse("datasets")).status_code == 302

    page = client.get(reverse("mfa_index")).content.decode()

    assert page.count("This server requires a second factor") == 1


def test_it_says_that_a_form_is_too_old(client_of, dataset):
    answer = client_of("steward", enforce_csrf_checks=True).post(reverse("account_logout"))

    assert answer.status_code == 403
    assert "This form is too old" in answer.content.decode()


def test_it_says_that_the_error_is_ours(client_of, dataset, monkeypatch):
    def broken(*_):
        raise RuntimeError("a secret of the data: 4711 rows")

    monkeypatch.setattr("heatmaps.views.dataset.datasets.cards_of", broken)

    answer = client_of("steward", raise_request_exception=False).get(reverse("datasets"))

    body = answer.content.decode()
    assert answer.status_code == 500
    assert "Something went wrong here" in body
    assert "4711" not in body


def test_it_has_an_icon_where_browsers_look_for_one(client_of):
    answer = client_of("anonymous").get("/favicon.ico")

    assert answer["Location"] == "/static/hazemap/favicon.svg"
    assert client_of("anonymous").get(answer["Location"]).status_code == 200


def test_it_refuses_other_methods(client_of, dataset):
    assert client_of("steward").get(reverse("upload-new", args=[dataset.slug])).status_code == 405
    assert client_of("steward").delete(reverse("dataset", args=[dataset.slug])).status_code == 405


def test_it_names_places_and_refuses_a_box_that_is_none(client_of):
    client = client_of("analyst")

    found = client.get(reverse("places"), {"bbox": "-98.3,29.8,-97.3,31.0"}).json()["places"]
    assert found[0]["name"] == "Austin"
    assert client.get(reverse("places"), {"bbox": "1,2,3"}).status_code == 400
    assert client.get(reverse("places"), {"bbox": "2,0,1,1"}).status_code == 400


def test_a_page_of_an_error_names_its_request(client_of, dataset, monkeypatch):
    """So does the header of every answer; a client's own id is not taken over."""

    def broken(*_):
        raise RuntimeError("a secret of the data: 4711 rows")

    client = client_of("analyst", raise_request_exception=False)
    answers = [client.get("/nothing/", headers={"X-Request-ID": "mine"}), client.get("/datasets/x/")]
    answers.append(client.get(reverse("ledger", args=[dataset.slug])))
    answers.append(client.get("/help/", headers={"host": "elsewhere.example"}))
    monkeypatch.setattr("heatmaps.views.dataset.datasets.cards_of", broken)
    answers.append(client.get(reverse("datasets")))

    assert [answer.status_code for answer in answers] == [404, 404, 403, 400, 500]
    named = [answer["X-Request-ID"] for answer in answers]
    assert len(set(named)) == len(answers)
    for answer, name in zip(answers, named, strict=True):
        assert re.fullmatch(r"[a-z]{4}(-[a-z]{4}){2}", name)
        assert f"<code>{name}</code>" in answer.content.decode()


def test_answers_without_an_error_have_a_name_too(client_of):
    assert client_of("analyst").get(reverse("help"))["X-Request-ID"]
    assert client_of("anonymous").get("/api/v1/mechanisms/")["X-Request-ID"]
    assert client_of("anonymous").get("/healthz")["X-Request-ID"]
