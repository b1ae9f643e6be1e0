"""Members, invitations and public releases over the API: what is refused, by its code."""

from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest


def code_of(answer, status):
    assert answer.status_code == status, answer.content
    return answer.json()["code"]


def test_the_last_steward_stays(api, dataset, people):
    steward, at = api("steward"), people["steward"].pk

    assert code_of(steward.send("DELETE", "member", "city", at), 409) == "last_steward"
    changed = steward.send("PATCH", "member", "city", at, body={"role": "analyst"})
    assert code_of(changed, 409) == "last_steward"


def test_it_says_which_field_is_refused(api, dataset):
    steward, administrator = api("steward"), api("administrator")

    unknown = steward.send("POST", "members", "city", body={"username": "nobody", "role": "analyst"})
    again = steward.send("POST", "members", "city", body={"username": "analyst", "role": "analyst"})
    no_reason = administrator.send(
        "POST", "members", "city", body={"username": "stranger", "role": "steward"}
    )

    assert unknown.json()["errors"][0]["field"] == "username"
    assert code_of(again, 409) == "already_member"
    assert code_of(no_reason, 422) == "invalid_parameter"
    assert no_reason.json()["errors"][0]["field"] == "reason"


def test_removing_a_member_says_what_became_of_what_was_queued(api, people, start_later, queued):
    """Cancelled unless it is kept."""
    at, asked = people["analyst"].pk, ReleaseRequest(mechanism="sparse-emd", epsilon="0.25", resolution=16)
    steward = api("steward")

    wrong = steward.send("DELETE", "member", "city", at, query="?keep_queued=1")
    kept = steward.send("DELETE", "member", "city", at, query="?keep_queued=true")
    steward.send("POST", "members", "city", body={"username": "analyst", "role": "analyst"})
    second = lifecycle.request_release(people["analyst"], queued.dataset, asked)
    removed = steward.send("DELETE", "member", "city", at)

    assert code_of(wrong, 400) == "invalid_request"
    assert kept.json() == {"cancelled": 0, "kept": 1, "begun": 0}
    assert removed.json() == {"cancelled": 2, "kept": 0, "begun": 0}
    second.refresh_from_db()
    assert second.state == "cancelled"


def test_an_invitation_shows_its_link_once(api, dataset, client, people):
    made = api("steward").send("POST", "invitations", "city", body={"role": "analyst"})
    listed = api("administrator").send("GET", "invitations", "city").json()["results"]

    assert made["Cache-Control"] == "no-store"
    assert listed == [{name: value for name, value in made.json().items() if name != "url"}]
    client.force_login(people["stranger"])
    client.post(made.json()["url"].replace("http://testserver", ""))
    assert dataset.memberships.get(user=people["stranger"]).role == "analyst"
    assert api("steward").send("GET", "invitations", "city").json()["results"] == []


def test_outsiders_are_told_of_a_public_release_and_of_nothing_else(api, published, queued):
    steward, outsider = api("steward"), api("anonymous")

    shown = steward.send("PATCH", "release", published.pk, body={"public": True})
    told = outsider.send("GET", "release", published.pk)

    assert shown.json()["public"] is True
    assert shown.json()["charges"] != []
    assert told["Cache-Control"] == "public, no-cache"
    assert told.json()["charges"] == []
    assert "dataset" not in told.json()["links"]
    assert "city" not in told.content.decode()
    member = api("analyst").send("GET", "release", published.pk)
    assert member["Cache-Control"] == "private, no-cache"
    assert "Authorization" in member["Vary"]
    assert code_of(steward.send("PATCH", "release", published.pk, body={"public": "yes"}), 400)


def test_only_a_published_release_is_made_public(api, queued):
    refused = api("steward").send("PATCH", "release", queued.pk, body={"public": True})

    assert code_of(refused, 409) == "not_published"
