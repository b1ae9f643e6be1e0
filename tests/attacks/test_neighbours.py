"""Two worlds that differ in one person: whoever is no steward sees the same in both, to the last byte.

Each world is lived through in a transaction of its own: the same people, files of the same name uploaded at
the same moment, the same questions, and every page and address that can be reached is read. In one world
there is a person more (or, under REPLACE, another record of one person), a row that is rejected, a slower
ingest and a slower draw. The maps that were paid for are noise by intention, and the only thing that may
differ: here they are the same in both worlds, so that files, sheets, sizes and pages have to be the same.
"""

import io
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from heatmaps import masses
from heatmaps.http import counters
from heatmaps.ingest import uploads
from heatmaps.ledger import events
from heatmaps.models import Dataset, Drawing, Membership, Release, Upload
from heatmaps.releases import clock as moments
from heatmaps.releases import draws, lifecycle
from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.guarantee import Relation
from mechanisms.randomness import SystemSource
from tests.services import seed

PERSONS = ("analyst", "auditor", "administrator", "stranger", "anonymous")
FILES_FOR = {
    "analyst",
    "steward",
}  # who takes every file that is offered; the others one
NOON = datetime(2026, 3, 2, 12, 0, 3, tzinfo=UTC)
DRAWN = {}  # the first world's maps, by their question
LINK = re.compile(rb'(?:href|src|action)="(/[^"#]*)')
# What differs between any two answers: names of rows, tokens of forms, nonces, names of requests.
CHANGING = [
    (re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), b"<id>"),
    (re.compile(rb'(name="csrfmiddlewaretoken" value=)"\w+"'), rb"\1"),
    (re.compile(rb'nonce(="|-|&quot;: ?&quot;|": ?")[\w+/=-]+'), b"nonce"),
    (re.compile(rb"\b[bcdfghjkmnpqrstvwxz]{4}(-[bcdfghjkmnpqrstvwxz]{4}){2}\b"), b"<request>"),
    (re.compile(rb"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), b"<now>"),
    (re.compile(rb"elease [0-9a-f]{8}\b|\b[0-9a-f]{8}([0-9a-f]{4})?(?=\xe2\x80\xa6)"), b"<short>"),
    (re.compile(rb"\b([0-9a-f]{128}|[0-9a-f]{64}|[0-9a-f]{15})\b"), b"<hash>"),
    (re.compile(rb"(map|tile_layer|geo_json|figure|macro_element|popup)_[0-9a-f]{32}"), rb"\1"),
    (re.compile(rb"/(heatmaps|auth|people)/(\w+/)?\d+/"), b"/<row>/"),
]


class Clock:
    """The product's clock, in the hands of the test."""

    def __init__(self, monkeypatch):
        self.time = NOON
        monkeypatch.setattr(timezone, "now", lambda: self.time)
        monkeypatch.setattr(
            events, "time", SimpleNamespace(time_ns=lambda: int(self.time.timestamp() * 10**9))
        )

    def on(self, seconds):
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch, settings):
    settings.SLOT_SECONDS = dict.fromkeys(settings.SLOT_SECONDS, 300)
    return Clock(monkeypatch)


@pytest.fixture(autouse=True)
def same_noise(monkeypatch):
    """The second world gets the map of the first, after it has drawn its own from its own data."""
    DRAWN.clear()
    draw = SparseEmd.release

    def drawn(mechanism, read, rng):
        own = draw(mechanism, read, SystemSource())
        return DRAWN.setdefault((mechanism.epsilon, mechanism.resolution), own)

    monkeypatch.setattr(SparseEmd, "release", drawn)


def content(relation, other):
    """40 persons; in the other world one more, or one who was elsewhere, and a row that is none."""
    rows = [
        f"person-{at % 40},2025-03-01T08:{at % 60:02}:00Z,0.{at * 7 % 89:02},0.{at % 97:02}"
        for at in range(200)
    ]
    if other and relation is Relation.ADD_REMOVE:
        rows += [f"somebody,2025-03-01T09:{at:02}:00Z,0.{at + 11},0.99" for at in range(30)]
    if other and relation is Relation.REPLACE:
        rows = [row if not row.startswith("person-7,") else "person-7,,0.999,0.999" for row in rows]
    if other:
        rows.append("somebody else,nowhere,north,west")
    return "\n".join(["user,time,lat,lon", *rows]).encode()


def live(people, clock, relation, other):
    """The whole story, as the steward, analysts and workers of one world make it."""
    dataset = seed.make_dataset(people["steward"], "city", relation)
    for role in ("analyst", "auditor"):
        Membership.objects.create(dataset=dataset, user=people[role], role=role)
    clock.on(60)
    file = io.BytesIO(content(relation, other))
    upload = uploads.receive(people["steward"], dataset, file, name="march.csv", advance=False)
    clock.on(21 if other else 2)  # seconds of the ingest
    uploads.run(upload.pk)
    assert Upload.objects.get(pk=upload.pk).state == "ready"
    clock.time = NOON + timedelta(minutes=10)
    uploads.advance(people["steward"], dataset)
    waiting = [ask(people, clock, dataset, epsilon) for epsilon in ("0.5", "0.25", "0.125")]
    draw(waiting[0], clock, 25 if other else 1)
    clock.time = waiting[0].visible_at
    moments.tick()  # the first is told, and the second begins
    assert [release.state for release in dataset.releases.order_by("starts_at")][:2] == ["published", "spent"]
    lifecycle.cancel(people["analyst"], waiting[2])
    clock.on(29 if other else 2)
    draws.claim(waiting[1])
    if other:  # has come to nothing, where the other is drawn still
        draws.give_up(waiting[1].pk)
    if other:  # and a file that is being read
        uploads.receive(people["steward"], dataset, io.BytesIO(b"user,lat,lon\na,0,0\n"), name="april.csv")
    clock.time = waiting[1].visible_at - timedelta(seconds=1)
    moments.tick()
    return dataset


def ask(people, clock, dataset, epsilon):
    """Not two at one moment: a list by time would put these in the order of their random names."""
    clock.on(1)
    request = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon=epsilon, resolution=16)
    return lifecycle.request_release(people["analyst"], dataset, request)


def draw(release, clock, seconds):
    read = masses.read

    def slow(*arguments, **options):
        clock.on(seconds)
        return read(*arguments, **options)

    masses.read = slow
    try:
        moments.tick()
        lifecycle.run(release.pk)
        moments.tick()
    finally:
        masses.read = read
    assert Release.objects.get(pk=release.pk).state == "spent"
    assert Drawing.objects.get(pk=release.pk).state == "drawn"


def plain(text):
    for pattern, stays in CHANGING:
        text = pattern.sub(stays, text)
    return text


def told(answer):
    """All that an answer tells: status, headers, length, body."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    headers = {name: plain(value.encode()) for name, value in answer.items()}
    cookies = sorted(answer.cookies)
    length = len(plain(body))
    return answer.status_code, headers, cookies, length, plain(body)


def crawl(client, start, *, files=False):
    """Every address within reach of some first ones, each asked twice: name -> what was told."""
    waiting, seen, found = list(start), set(start), {}
    while waiting:
        address = waiting.pop(0)
        # Asking twice is an attack, too: nothing is told the second time that was not told the first.
        answers = [client.get(address) for _ in range(1 + address.startswith("/api/"))]
        page = answers[0].content if not answers[0].streaming else b""
        name = plain(address.encode())
        found.setdefault(name, []).append([told(answer) for answer in answers])
        # In the order of the page: sorted, rows would stand in the order of their random names.
        links = dict.fromkeys(link.decode().replace("&amp;", "&") for link in LINK.findall(page))
        fresh = [
            link for link in links if link not in seen and wanted(link) and (files or "/heatmap." not in link)
        ]
        seen.update(fresh)
        waiting += fresh
    return found


def wanted(link):
    """Nothing static, no endless lists, and no page that draws a secret for its reader each time."""
    if re.match(r"/(static|places|sign-out|api/docs|admin/(logout|jsi18n|autocomplete|password))", link):
        return False
    if link.startswith("/account/second-factor/app/"):
        return False
    return "?" not in link or link.startswith("/datasets/")


def first_addresses(dataset):
    addresses = [
        reverse("home"),
        reverse("datasets"),
        "/admin/",
        "/api/schema/",
        reverse("help"),
        reverse("public"),
        reverse("gis:collections"),
    ]
    addresses += [reverse(f"api:{name}") for name in ("datasets", "mechanisms")]
    about = ("dataset", "versions", "releases", "uploads", "ledger", "budget")
    addresses += [reverse(f"api:{name}", args=["city"]) for name in about]
    for release in Release.objects.filter(dataset=dataset).order_by("requested_at", "epsilon"):
        names = ("release", "api:release", "release-state")
        names += ("gis:tilejson", "gis:collection", "gis:items", "gis:schema", "gis:coverage")
        addresses += [reverse(name, args=[release.pk]) for name in names]
        addresses.append(reverse("gis:tile", args=[release.pk, 0, 0, 0]))
        addresses += [reverse(name, args=[release.pk, "npy"]) for name in ("release-download", "api:heatmap")]
    march = Upload.objects.get(file_name="march.csv")
    addresses += [reverse(name, args=[march.pk]) for name in ("upload", "upload-rejected", "api:upload")]
    return addresses


def refusals(client, token):
    """What is asked for in vain, and the quotes: errors must not tell either."""
    bodies = [
        {"mechanism": "sparse-emd", "epsilon": epsilon, "resolution": resolution, "parameters": {}}
        for epsilon, resolution in (("1.9", 16), ("1", 17), ("x", 16), ("0.3", 16), ("0.5", 16), ("20", 4096))
    ]
    headers = {"authorization": f"Bearer {token}"} if token else {}
    found = {}
    for name in ("quotes", "releases", "uploads", "checkins", "versions"):
        for number, body in enumerate(bodies if name in {"quotes", "releases"} else [{}]):
            answers = [
                client.post(
                    reverse(f"api:{name}", args=["city"]),
                    body,
                    content_type="application/json",
                    headers=headers,
                )
                for _ in range(2)  # asked twice
            ]
            found[f"POST {name} {number}".encode()] = [[told(answer) for answer in answers]]
    return found


def world(people, client_of, token_of, clock, relation, *, other):
    """What everybody sees in a world, which is gone afterwards."""
    clock.time = NOON
    counters.own().clear()
    before = transaction.savepoint()  # no `atomic`: a spend insists on a transaction of its own
    dataset = live(people, clock, relation, other)
    seen = {}
    for person in PERSONS:
        clock.on(1)  # so that tokens have an order, other than that of their random names
        token = None if person == "anonymous" else token_of(person)
        client = client_of(person)
        client.get(reverse("help"))
        addresses = first_addresses(dataset)
        pages = [one for one in addresses if not one.startswith("/api/")]
        seen[person] = crawl(client, pages, files=person in FILES_FOR)
        client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}" if token else ""
        seen[person] |= crawl(client, [one for one in addresses if one.startswith("/api/")])
        seen[person] |= refusals(client, token)
    transaction.savepoint_rollback(before)
    assert not Dataset.objects.exists()
    return seen


@pytest.mark.long
@pytest.mark.parametrize("relation", list(Relation), ids=lambda relation: relation.value)
def test_nobody_but_stewards_can_tell_two_neighbouring_datasets_apart(
    people, client_of, token_of, clock, relation
):
    first = world(people, client_of, token_of, clock, relation, other=False)
    second = world(people, client_of, token_of, clock, relation, other=True)

    for person in PERSONS:
        assert set(first[person]) == set(second[person]), person
        different = [name for name in first[person] if first[person][name] != second[person][name]]
        shown = [difference(first[person], second[person], name) for name in different[:3]]
        assert not different, (person, different, shown)
    reached = Counter(row[0] for row in (one[0] for rows in first["auditor"].values() for one in rows))
    assert reached[200] > 40
    assert any(b"/ledger/" in name for name in first["auditor"])


def test_a_steward_can_tell_them_apart(people, client_of, token_of, clock, monkeypatch):
    """So that the comparison above can fail."""
    monkeypatch.setattr(f"{__name__}.PERSONS", ("steward",))
    monkeypatch.setattr(f"{__name__}.wanted", lambda link: re.match("/datasets/city/(data|ledger)/$", link))
    given = (people, client_of, token_of, clock, Relation.ADD_REMOVE)
    worlds = [world(*given, other=other)["steward"] for other in (False, True)]

    different = {name for name in worlds[0] if worlds[0][name] != worlds[1].get(name)}
    assert {b"/datasets/city/data/", b"/uploads/<id>/"} <= different
    assert b"/datasets/city/ledger/" not in different  # it tells public moments alone


def difference(first, second, name):
    """The first place where two answers differ, with what is around it."""
    for one, other in zip(first[name], second[name], strict=False):
        for left, right in zip(one, other, strict=False):
            if left == right:
                continue
            if left[:3] != right[:3]:
                return [pair for pair in zip(left[:3], right[:3], strict=True) if pair[0] != pair[1]]
            at = next(
                (at for at, (a, b) in enumerate(zip(left[4], right[4], strict=False)) if a != b), len(left[4])
            )
            return left[4][max(0, at - 200) : at + 100], right[4][max(0, at - 200) : at + 100]
    return None
