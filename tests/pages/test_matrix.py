"""Who may open and send what: every page and every method, for six persons.

A page without a row in `matrix.PAGES` fails `test_it_has_a_row_for_every_page`. A request is undone
afterwards, so rows do not know of each other.
"""

from copy import deepcopy

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from heatmaps.admin import site
from heatmaps.http import counters, health
from heatmaps.ingest import opt_outs
from heatmaps.ledger import transitions
from heatmaps.models import AdministratorRead, ApiToken
from heatmaps.people import invitations, password_links
from heatmaps.releases import publication
from tests.addresses import EVERYBODY, by_person, names
from tests.pages.matrix import NO_SUMS, NOT_SO, OK, OLD, PAGES, PUBLIC, SENT
from tests.services.seed import store_districts

HINT = "give it a row in PAGES of tests/pages/matrix.py, as the head of that file says"


@pytest.fixture
def things(people, dataset, upload, published, make_dataset):
    """What addresses are about, by the names that the rows use."""
    for person in people.values():
        person.set_password(OLD)
        person.save()
    invited = invitations.invite(people["steward"], dataset, "analyst")
    for_all = invitations.invite_to_installation(people["administrator"], may_create_datasets=False)
    forgetful = User.objects.create_user("forgetful", password=OLD)
    reset = password_links.make(people["administrator"], forgetful)
    token, _ = ApiToken.objects.create(user=people["steward"], name="test", scopes=["read"])
    restored = make_dataset("restored")
    transitions.restore(restored, transitions.Unknown(charges={}, other_copy="unknown", reason="a test"))
    return {name: person.pk for name, person in people.items()} | {
        "slug": dataset.slug,
        "restored": restored.slug,
        "upload": upload.pk,
        "release": published.pk,
        "token": token.token_key,
        "invitation": invited.secret,
        "districts": store_districts(people["steward"], dataset).pk,
        "opt-out": opt_outs.enter(people["steward"], dataset, "left out")[0].entry,
        "invitation id": invited.row.pk,
        "installation invitation": for_all.row.pk,
        "reset": reset,
    }


@pytest.fixture
def ask(client_of, things, monkeypatch):
    """Answers one request, which is undone afterwards: a client of its own each time, signed in once."""
    monkeypatch.setattr("heatmaps.http.health._memory", health._Memory())
    signed_in = {}

    def make(person, name, page, method):
        if person not in signed_in:
            signed_in[person] = client_of(person).cookies
        client = Client()
        client.cookies = deepcopy(signed_in[person])
        address = address_of(name, page, things) + page.query
        with transaction.atomic():
            body = page.body if method == "POST" else None
            answer = getattr(client, method.lower())(address, body)
            transaction.set_rollback(True)
        return answer

    return make


def address_of(name, page, things):
    return reverse(name, args=[word[1:] if word.startswith("=") else things[word] for word in page.about])


def test_it_has_a_row_for_every_page():
    found = {name for name, _ in names() if not name.startswith(("admin:", "api:"))}

    assert found - set(PAGES) == set(), HINT
    assert set(PAGES) - found == set(), "rows of pages that are gone"


@pytest.mark.parametrize("person", EVERYBODY)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_it_answers_everybody_as_the_table_says(ask, person, method):
    told = {}
    for name, page in PAGES.items():
        if name != "favicon.ico":
            told[name] = ask(person, name, page, method).status_code

    wanted = {name: by_person(getattr(PAGES[name], method))[person] for name in told}
    wrong = {name: f"{told[name]} instead of {wanted[name]}" for name in told if told[name] != wanted[name]}
    assert wrong == {}, f"{method} as {person}"


def test_it_records_what_an_administrator_opens_of_a_dataset(ask, client_of, things):
    """Any page about a dataset that is no member's: also one that is still to be written."""
    of_dataset, client = {"slug", "upload", "release"}, client_of("administrator")
    for name, page in PAGES.items():
        if by_person(page.GET)["administrator"] == OK and (of_dataset & {*page.about} or name == "datasets"):
            client.get(address_of(name, page, things))
            last = AdministratorRead.objects.get(page=name, dataset__slug=things["slug"])
            assert last.reader.username == "administrator"


def test_it_takes_no_other_method(ask):
    told = {
        (name, method): ask("steward", name, page, method).status_code
        for name, page in PAGES.items()
        for method in ("PUT", "DELETE")
        if name != "favicon.ico"  # redirections take every method
        and not name.startswith(("admin-", "gis:no-"))
    }

    assert {key: status for key, status in told.items() if status != NOT_SO} == {}


@pytest.mark.parametrize(
    ("person", "reads"),
    # What is read by POST, for the privacy of logs, counts visits of an address like any GET.
    [("steward", set()), ("anonymous", {"place-search"})],
)
def test_forms_of_other_websites_use_up_no_limit(client_of, things, person, reads):
    """What a page counts, it counts once the form is known to be its own: tried at every page there is."""
    client, counting = client_of(person, enforce_csrf_checks=True), set()
    client.cookies["csrftoken"] = "a" * 32
    for name, page in PAGES.items():
        counters.own().clear()
        if name != "favicon.ico":
            client.post(address_of(name, page, things), page.body | {"csrfmiddlewaretoken": "b" * 32})
        if any(table.storage for table in counters.own()._tables.values()):
            counting.add(name)

    assert counting == reads


@pytest.mark.parametrize("person", EVERYBODY)
def test_it_shows_a_public_release_to_everybody_and_hides_it_again(ask, people, published, person):
    publication.set_public(people["steward"], published, public=True)
    shown = {name: ask(person, name, PAGES[name], "GET").status_code for name in PUBLIC}
    others = {
        name: ask(person, name, page, "GET").status_code
        for name, page in PAGES.items()
        if name not in (*PUBLIC, NO_SUMS, "favicon.ico") and person in ("stranger", "anonymous")
    }
    publication.set_public(people["steward"], published, public=False)
    hidden = {name: ask(person, name, PAGES[name], "GET").status_code for name in PUBLIC}

    assert shown == dict.fromkeys(PUBLIC, OK)
    assert others == {name: by_person(PAGES[name].GET)[person] for name in others}
    assert hidden == {name: by_person(PAGES[name].GET)[person] for name in PUBLIC}


@pytest.mark.parametrize("person", EVERYBODY)
def test_it_opens_the_administration_to_administrators_only(client_of, things, person):
    client = client_of(person)
    lists = [f"{model._meta.app_label}_{model._meta.model_name}_changelist" for model in site._registry]

    statuses = {client.get(reverse(f"admin:{page}")).status_code for page in ["index", *lists]}

    assert statuses == {OK if person == "administrator" else SENT}
