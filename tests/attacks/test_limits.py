"""A limit moves by its own page or the API, by a steward or an administrator, and in no other way."""

import pytest
from django.test import Client
from django.urls import reverse

from heatmaps.ledger.verification import verify
from heatmaps.models import Account

EVERYBODY = ("steward", "analyst", "auditor", "administrator", "stranger", "anonymous")
MAY = {"steward", "administrator"}
REFUSED = {"analyst": 403, "auditor": 403, "stranger": 404}
TWO, THREE = 2 * 10**12, 3 * 10**12
BODY = {"limits": {"presence": "3"}, "reason": "agreed"}
FORM = {"limit": "3", "reason": "agreed", "seen": str(TWO)}


@pytest.fixture
def page(dataset):
    return reverse("limit-change", args=[dataset.slug, "presence"])


def moved(dataset):
    """The limit, and how often the events say it moved."""
    assert verify(dataset).ok
    return dataset.accounts.get(kind="presence").limit, dataset.events.filter(kind="limit").count()


@pytest.mark.parametrize("person", EVERYBODY)
def test_by_the_page_of_those_who_may(client_of, dataset, page, person):
    answer = client_of(person).post(page, FORM)

    assert answer.status_code == REFUSED.get(person, 302)
    assert moved(dataset) == ((THREE, 1) if person in MAY else (TWO, 0))


@pytest.mark.parametrize("person", EVERYBODY)
def test_by_the_api_of_those_who_may(api, dataset, person):
    answer = api(person).send("PATCH", "budget", dataset.slug, body=BODY, **{"if-match": "*"})

    expected = REFUSED | dict.fromkeys(MAY, 200) | {"anonymous": 401}
    assert answer.status_code == expected[person]
    assert moved(dataset) == ((THREE, 1) if person in MAY else (TWO, 0))


@pytest.mark.parametrize("person", sorted(MAY))
@pytest.mark.parametrize("scopes", [[], ["read"], ["release"], ["read", "release"]])
def test_not_by_a_token_that_may_do_less_than_its_owner(api, dataset, person, scopes):
    answer = api(person, scopes).send("PATCH", "budget", dataset.slug, body=BODY, **{"if-match": "*"})

    assert answer.status_code == 403
    assert moved(dataset) == (TWO, 0)


@pytest.mark.parametrize("person", EVERYBODY)
@pytest.mark.parametrize("act", ["change", "add"])
def test_not_by_the_administrations_forms(client_of, dataset, person, act):
    account = Account.objects.get(kind="presence")
    address = reverse(f"admin:heatmaps_account_{act}", args=[account.pk] if act == "change" else [])
    listed = reverse("admin:heatmaps_account_changelist")
    typed = {"limit": THREE, "committed": 0, "kind": "presence", "dataset": dataset.pk, "_save": "Save"}
    several = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": account.pk, "form-0-limit": THREE}

    client = client_of(person)
    assert client.post(address, typed).status_code in {302, 403}
    client.post(listed, several | {"_save": "Save"})

    assert moved(dataset) == (TWO, 0)


@pytest.mark.parametrize("person", sorted(MAY))
@pytest.mark.parametrize("token", [None, "x" * 64, "of another session"])
def test_not_by_a_forged_form(client_of, dataset, page, person, token):
    """Another site makes a signed-in browser send it: it has the cookie, and not the token of the form."""
    client = client_of(person, enforce_csrf_checks=True)
    client.get(page)
    if token == "of another session":
        other = Client(enforce_csrf_checks=True)
        other.get(reverse("account_login"))
        token = other.cookies["csrftoken"].value[::-1]
    typed = FORM if token is None else FORM | {"csrfmiddlewaretoken": token}

    assert client.post(page, typed).status_code == 403
    assert moved(dataset) == (TWO, 0)


def test_not_by_a_form_of_another_origin(client_of, dataset, page):
    client = client_of("steward", enforce_csrf_checks=True)
    client.get(page)
    typed = FORM | {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}

    assert client.post(page, typed, headers={"origin": "https://example.org"}).status_code == 403
    assert client.post(page, typed, headers={"origin": "null"}).status_code == 403
    assert moved(dataset) == (TWO, 0)
    assert client.post(page, typed).status_code == 302


@pytest.mark.parametrize("person", sorted(MAY))
def test_not_by_a_session_at_the_api(client_of, dataset, person):
    """The API knows tokens only: no page of another site can make a browser use it."""
    answer = client_of(person).patch(
        reverse("api:budget", args=[dataset.slug]),
        BODY,
        content_type="application/json",
        headers={"if-match": "*"},
    )

    assert answer.status_code == 401
    assert moved(dataset) == (TWO, 0)


@pytest.mark.parametrize("name", ["dataset", "release", "budget"])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST"])
def test_not_by_another_address(api, dataset, queued, name, method):
    about = queued.pk if name == "release" else dataset.slug
    body = {"limits": {"presence": "3"}, "limit": "3", "committed": "0", "state": "cancelled"}

    assert api("steward").send(method, name, about, body=body).status_code in {400, 405, 428}
    assert moved(dataset) == (TWO, 0)


def test_not_beyond_what_is_spent(api, dataset, published):
    """Neither below the sum of the charges, nor without any limit on ε."""
    for limit in ("0.4", "0", "-1", None):
        body = {"limits": {"presence": limit}, "reason": "agreed"}
        answer = api("steward").send("PATCH", "budget", dataset.slug, body=body, **{"if-match": "*"})
        assert answer.status_code in {400, 409, 422}, limit
    assert moved(dataset) == (TWO, 0)
