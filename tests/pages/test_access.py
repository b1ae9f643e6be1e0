"""Who sees which page: owner, colleague, auditor, administrator, stranger, anonymous."""

import pytest
from django.urls import reverse

OK, SIGN_IN, FORBIDDEN, NOT_FOUND = 200, 302, 403, 404
EVERYBODY = ("steward", "analyst", "auditor", "administrator", "stranger", "anonymous")

PAGES = {
    "datasets": (OK, OK, OK, OK, OK, SIGN_IN),
    "dataset-new": (OK, OK, OK, OK, OK, SIGN_IN),
    "dataset": (OK, OK, OK, OK, NOT_FOUND, SIGN_IN),
    "release-new": (OK, OK, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
    "ledger": (OK, FORBIDDEN, OK, OK, NOT_FOUND, SIGN_IN),
    "limit-change": (OK, FORBIDDEN, FORBIDDEN, OK, NOT_FOUND, SIGN_IN),
    "upload": (OK, FORBIDDEN, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
    "release": (OK, OK, OK, OK, NOT_FOUND, SIGN_IN),
    "release-state": (OK, OK, OK, OK, NOT_FOUND, SIGN_IN),
    "release-map": (OK, OK, OK, OK, NOT_FOUND, SIGN_IN),
    "release-sheet": (OK, OK, OK, OK, NOT_FOUND, SIGN_IN),
    "release-download": (OK, OK, OK, OK, NOT_FOUND, SIGN_IN),
    "help": (OK, OK, OK, OK, OK, OK),
}
ACTS = {
    "upload-new": (302, FORBIDDEN, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
    "version-new": (302, FORBIDDEN, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
}


@pytest.mark.parametrize("name", PAGES)
def test_it_shows_a_page_to_those_who_may_see_it(client_of, addresses, name):
    found = [client_of(person).get(addresses[name]).status_code for person in EVERYBODY]

    assert dict(zip(EVERYBODY, found, strict=True)) == dict(zip(EVERYBODY, PAGES[name], strict=True))


@pytest.mark.parametrize("name", ACTS)
def test_it_lets_stewards_only_change_the_data(client_of, dataset, name):
    address = reverse(name, args=[dataset.slug])
    found = [client_of(person).post(address).status_code for person in EVERYBODY]

    assert dict(zip(EVERYBODY, found, strict=True)) == dict(zip(EVERYBODY, ACTS[name], strict=True))


def test_it_does_not_tell_a_stranger_whether_a_dataset_exists(client_of, dataset):
    client = client_of("stranger")

    there = client.get(reverse("dataset", args=[dataset.slug]))
    not_there = client.get(reverse("dataset", args=["nowhere"]))

    assert there.content == not_there.content
    assert there.status_code == not_there.status_code == NOT_FOUND


def test_it_lists_a_persons_own_datasets_only(client_of, dataset, make_dataset):
    make_dataset("town").memberships.filter(user__username="analyst").delete()

    body = client_of("analyst").get(reverse("datasets")).content.decode()
    strangers = client_of("stranger").get(reverse("datasets")).content.decode()

    assert "/datasets/city/" in body
    assert "/datasets/town/" not in body
    assert "/datasets/city/" not in strangers


def test_it_sends_people_back_to_where_they_wanted_to_go_after_signing_in(client_of, people, dataset):
    people["analyst"].set_password("long enough to pass")
    people["analyst"].save()
    client = client_of("anonymous")
    wanted = reverse("dataset", args=[dataset.slug])
    page = client.get(wanted, follow=True)
    assert f'name="next" value="{wanted}"' in page.content.decode()

    typed = {"username": "analyst", "password": "long enough to pass", "next": wanted}
    answer = client.post(reverse("sign-in"), typed)

    assert answer["Location"] == wanted


def test_it_does_not_send_people_to_other_sites_after_signing_in(client_of, people):
    people["analyst"].set_password("long enough to pass")
    people["analyst"].save()

    typed = {"username": "analyst", "password": "long enough to pass", "next": "https://example.org/"}
    answer = client_of("anonymous").post(reverse("sign-in"), typed)

    assert answer["Location"] == reverse("datasets")


def test_it_signs_out_by_post_only(client_of):
    client = client_of("analyst")

    assert client.get(reverse("sign-out")).status_code == 405
    assert client.post(reverse("sign-out")).status_code == 302
    assert client.get(reverse("datasets")).status_code == SIGN_IN
