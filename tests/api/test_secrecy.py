"""Nothing that depends on the data reaches an analyst: two datasets that differ in nothing else."""

import re

import pytest

from heatmaps.ingest.formats.reader import NO_TIME
from heatmaps.ledger import transitions
from heatmaps.models import Release, Upload
from tests.services import draws
from tests.services.draws import carry_out
from tests.services.seed import store

SLUGS = ("north", "south")  # of one length
MOMENT = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.fixture
def twins(make_dataset, people):
    """The first has no check-in and no trouble; the second has thousands, a failed upload, one under way."""
    made = [make_dataset(slug) for slug in SLUGS]
    for dataset in made:
        transitions.record(dataset, "version", actor=people["steward"], before={}, after={"version": 1})
        dataset.versions.create(number=1, created_by=people["steward"])
    full = made[1]
    for state, rows in (("ready", 4000), ("failed", 0), ("staged", 77)):
        upload = Upload.objects.create(
            dataset=full,
            state=state,
            version=full.versions.get() if state == "ready" else None,
            uploaded_by=people["steward"],
            file_name=f"{state}.csv",
            size_bytes=123_456,
            rows_accepted=rows,
            content_digest=state,
        )
        store(upload, [(at, at**3, NO_TIME) for at in range(rows)])
    return made


def seen(client, address):
    """Status, headers and body without what differs by name and by moment."""
    answer = client.get(address) if isinstance(address, str) else client.send(*address[:3], body=address[3])
    body = MOMENT.sub(b"<moment>", ID.sub(b"<id>", answer.content))
    # Each answer's own name is random.
    told = {name: value for name, value in answer.items() if name != "X-Request-ID"}
    headers = {name: ID.sub(b"<id>", value.encode()) for name, value in told.items()}
    for slug in SLUGS:
        body = body.replace(slug.encode(), b"<slug>")
        headers = {name: value.replace(slug.encode(), b"<slug>") for name, value in headers.items()}
    return answer.status_code, headers, body


def everything(client, dataset, question):
    """All that an analyst can ask about a dataset, and gets."""
    reads = ("dataset", "versions", "releases", "budget", "ledger", "uploads")
    asked = [("GET", name, dataset.slug, None) for name in reads]
    asked += [("POST", name, dataset.slug, question(epsilon="1.75")) for name in ("quotes", "releases")]
    asked += [("POST", name, dataset.slug, question(epsilon="zwei")) for name in ("quotes", "releases")]
    asked += [("POST", name, dataset.slug, []) for name in ("uploads", "checkins", "versions")]
    asked += [("GET", "release", release.pk, None) for release in dataset.releases.order_by("requested_at")]
    asked += [("GET", "upload", upload.pk, None) for upload in dataset.uploads.all()[:1]]
    return {f"{row[0]} {row[1]} {number}": seen(client, row) for number, row in enumerate(asked)}


def moved(twins, state):
    if state == "published":
        carry_out(*Release.objects.filter(dataset__in=twins).values_list("pk", flat=True))
    for dataset in twins:
        release = Release.objects.get(dataset=dataset)
        if state in {"spent", "failed"} and dataset.slug == SLUGS[1]:  # the other one waits, or is ...
            transitions.spend(release.pk)
        if state == "failed":
            transitions.spend(release.pk)
            draws.fail(release.pk)


@pytest.mark.parametrize("state", ["reserved", "spent", "failed", "published"])
def test_it_answers_an_analyst_alike_whatever_the_data_are(api, twins, question, state):
    analyst = api("analyst")
    for dataset in twins:
        assert analyst.send("POST", "releases", dataset.slug, body=question()).status_code == 202
    moved(twins, state)

    first, second = (everything(analyst, dataset, question) for dataset in twins)

    second.pop(next((name for name in second if name.startswith("GET upload ")), ""), None)
    assert first == second


def test_it_tells_the_steward_more(api, twins):
    first, second = (api("steward").send("GET", "uploads", dataset.slug).json() for dataset in twins)

    assert (first["count"], second["count"]) == (0, 3)
    assert {row["rows_accepted"] for row in second["results"]} == {4000, 0, 77}


@pytest.mark.parametrize("person", ["analyst", "auditor", "administrator"])
def test_it_lists_datasets_alike(api, twins, person):
    rows = api(person).send("GET", "datasets").json()["results"]
    texts = [str(row).replace(row["slug"], "<slug>") for row in rows]

    assert len(texts) == 2
    assert texts[0] == texts[1]


def test_it_tells_seconds_of_events_to_stewards_only(api, dataset, published):
    """A version may come as soon as its files were read, which takes as long as there are check-ins."""
    seconds = re.compile(r"\d\d:\d\d:\d\d")

    def moments(person):
        return " ".join(
            row["at"] for row in api(person).send("GET", "ledger", dataset.slug).json()["results"]
        )

    assert seconds.search(moments("steward"))
    for person in ("auditor", "administrator"):
        assert not seconds.search(moments(person))


def test_it_tells_nobody_when_a_release_was_finished(api, published):
    assert "finished" not in api("analyst").send("GET", "release", published.pk).content.decode()
