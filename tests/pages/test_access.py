"""Signing in and out, and what strangers learn: nothing. Who may open what is in test_matrix.py."""

import re

from django.urls import reverse

SIGN_IN, NOT_FOUND = 302, 404


def test_it_does_not_tell_a_stranger_whether_a_dataset_exists(client_of, dataset):
    client = client_of("stranger")

    there = client.get(reverse("dataset", args=[dataset.slug]))
    not_there = client.get(reverse("dataset", args=["nowhere"]))

    assert without_its_name(there) == without_its_name(not_there)
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

    typed = {"login": "analyst", "password": "long enough to pass", "next": wanted}
    answer = client.post(reverse("account_login"), typed)

    assert answer["Location"] == wanted


def test_it_does_not_send_people_to_other_sites_after_signing_in(client_of, people):
    people["analyst"].set_password("long enough to pass")
    people["analyst"].save()

    typed = {"login": "analyst", "password": "long enough to pass", "next": "https://example.org/"}
    answer = client_of("anonymous").post(reverse("account_login"), typed)

    assert answer["Location"] == reverse("home")


def test_it_signs_out_by_post_only(client_of):
    client = client_of("analyst")

    assert client.get(reverse("account_logout")).status_code == 405
    assert client.post(reverse("account_logout")).status_code == 302
    assert client.get(reverse("datasets")).status_code == SIGN_IN


def without_its_name(answer):
    """Each request has a name, which error pages tell."""
    return re.sub(rb"request <code>[^<]+</code>", b"", answer.content)
