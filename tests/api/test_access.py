"""What strangers and strange tokens learn: nothing. Who may ask for what is in test_matrix.py."""

import pytest


def test_it_does_not_tell_a_stranger_whether_something_exists(api, dataset, published):
    stranger = api("stranger")
    nobody = "00000000-0000-4000-8000-000000000000"

    for name, there, nowhere in (
        ("dataset", dataset.slug, "nowhere"),
        ("ledger", dataset.slug, "nowhere"),
        ("release", published.pk, nobody),
        ("upload", dataset.uploads.get().pk, nobody),
    ):
        found, missing = stranger.send("GET", name, there), stranger.send("GET", name, nowhere)
        assert found.status_code == missing.status_code == 404
        assert found.content == missing.content


def test_it_lists_a_persons_own_datasets_only(api, dataset, make_dataset):
    make_dataset("town").memberships.filter(user__username="analyst").delete()

    def slugs(name):
        return [row["slug"] for row in api(name).send("GET", "datasets").json()["results"]]

    assert slugs("analyst") == ["city"]
    assert sorted(slugs("administrator")) == ["city", "town"]
    assert slugs("stranger") == []


def test_it_takes_no_session_for_a_token(client, people, dataset):
    client.force_login(people["steward"])

    assert client.get("/api/v1/datasets/").status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer a b",
        "Basic c3Rld2FyZDp4",
        "Bearer " + "f" * 64,
        "Bearer \xd9\xa3",
        "Bearer \x00",
        "Bearer " + "a" * 9999,
    ],
)
def test_it_refuses_whatever_is_no_token(client, db, header):
    answer = client.get("/api/v1/datasets/", headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


def test_it_refuses_the_token_of_a_closed_account(api, people):
    client = api("analyst")
    people["analyst"].is_active = False
    people["analyst"].save()

    assert client.send("GET", "datasets").status_code == 401
