"""Names of releases over the API: given with the question, changed, shown to everybody by their text."""

from heatmaps.models import Release

NAMED = {"name": "Nights", "note": "After midnight."}


def told(answer, status=200):
    assert answer.status_code == status, answer.content
    body = answer.json()
    return {name: body[name] for name in ("title", "name", "note", "name_public")}


def refused(answer):
    return answer.status_code, answer.json()["code"]


def test_a_question_is_named_and_its_repetition_keeps_the_name(api, dataset, question):
    analyst, body, key = api("analyst"), question(), {"Idempotency-Key": "one"}
    made = analyst.send("POST", "releases", "city", body=body | NAMED, **key)
    assert told(made, 202) == {"title": "Nights", **NAMED, "name_public": False}
    again = analyst.send("POST", "releases", "city", body=body | {"name": "Days"}, **key)
    assert told(again, 202)["name"] == "Nights"
    assert analyst.send("POST", "quotes", "city", body=body | NAMED).status_code == 400  # no part of it
    row = api("auditor").send("GET", "releases", "city").json()["results"][0]
    assert (row["title"], row["note"]) == ("Nights", NAMED["note"])
    row = api("administrator").send("GET", "releases", "city").json()["results"][0]
    assert (row["title"], row["name"], row["note"]) == ("Map, ε 0.5", "", "")


def test_it_is_shown_to_everybody_by_its_text_and_hidden_by_a_change(api, published):
    steward, analyst, outsider = api("steward"), api("analyst", ["release"]), api("anonymous")
    about = ("release", published.pk)
    named = analyst.send("PATCH", "release-name", published.pk, body=NAMED)
    assert told(named)["title"] == "Nights"
    assert refused(steward.send("PATCH", *about, body={"public_name": NAMED})) == (409, "name_changed")
    other = {"public": True, "public_name": NAMED | {"note": ""}}
    assert refused(steward.send("PATCH", *about, body=other)) == (409, "name_changed")
    assert Release.objects.get().public_since is None  # nothing of it was done
    assert told(steward.send("PATCH", *about, body=other | {"public_name": NAMED}))["name_public"] is True
    assert told(outsider.send("GET", *about)) == {"title": "Nights", **NAMED, "name_public": True}
    changed = analyst.send("PATCH", "release-name", published.pk, body={"name": "Days"})
    assert told(changed) == {"title": "Days", "name": "Days", "note": NAMED["note"], "name_public": False}
    hidden = {"title": "Map, ε 0.5", "name": "", "note": "", "name_public": False}
    assert told(outsider.send("GET", *about)) == hidden
    shown = {"public_name": {"name": "Days", "note": NAMED["note"]}}
    assert told(steward.send("PATCH", *about, body=shown))["name_public"] is True
    assert told(steward.send("PATCH", *about, body={"public_name": None}))["name_public"] is False
    assert told(outsider.send("GET", *about)) == hidden


def test_what_is_refused_is_named(api, published):
    analyst = api("analyst")
    turned = analyst.send("PATCH", "release-name", published.pk, body={"note": "a\u202eb"})
    assert refused(turned) == (422, "invalid_parameter")
    assert turned.json()["errors"][0]["field"] == "note"
    assert "visible characters" in turned.json()["detail"]
    for body in ({"name": "x" * 81}, {"name": "a\0b"}, {"name": 1}, {"title": "x"}):
        assert refused(analyst.send("PATCH", "release-name", published.pk, body=body)) == (
            400,
            "invalid_request",
        )
    assert refused(api("steward").send("PATCH", "release", published.pk, body={})) == (400, "invalid_request")
