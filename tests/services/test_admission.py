"""A running server asks before it takes a large body, and serves others whoever else is connected."""

import json
import time
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.services.front import connected, exchange, rest_of, statuses
from tests.services.http import get
from tests.services.programs import found_or_skip
from tests.services.refused_bodies import STATED_BYTES, Answers, outcomes, post
from tests.services.tls import Tls
from tests.services.traffic import FILLED

CSV = b"user,time,lat,lon\n"
HUGE = 2**30
PEOPLE = """
import json
from tests.services import web, traffic
from django.contrib.auth.models import User
from heatmaps.models import ApiToken, Dataset, Membership
tokens = traffic.make()
colleague = User.objects.create_user("colleague")
Membership.objects.create(dataset=Dataset.objects.get(slug=traffic.FILLED), user=colleague, role="steward")
_, other = ApiToken.objects.create(user=colleague, name="other", scopes=["read", "release", "steward"])
print(json.dumps([[*tokens[:2], other], web.session("steward")]))
"""


class Site:
    def __init__(self, port, process, tokens, session):
        self.session = session
        self.port, self.process = port, psutil.Process(process.pid)
        self.steward, self.analyst, self.colleague = tokens

    def head(self, path, length, *, token="", kind="text/csv", more=""):
        lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Type: {kind}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"Content-Length: {length}" if length else "Transfer-Encoding: chunked"]
        return "\r\n".join([*lines, *filter(None, [more]), "", ""]).encode()

    def answered(self, head):
        """Status and problem of what is answered although no byte of the body came."""
        told = exchange(self.port, head, timeout=20)
        body = told.partition(b"\r\n\r\n")[2]
        return statuses(told)[0], json.loads(body)["code"] if b"problem+json" in told else ""

    def on_disk(self):
        """Bytes in files that have no name any more: bodies that are buffered."""
        files = []
        for path in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                files.append(path.stat())
        return sum(file.st_size for file in files if file.st_nlink == 0)


@pytest.fixture(scope="module")
def site(world, tmp_path_factory):
    made = world.installation(tmp_path_factory.mktemp("admission"))
    tokens, session = json.loads(made.python("-c", PEOPLE).stdout)
    with made.serving() as server:
        yield Site(server.port, server.process, tokens, session)


UPLOADS = f"/api/v1/datasets/{FILLED}/uploads/"
BLURRED = f"/api/v1/datasets/{FILLED}/blurred/"
REFUSED = {
    "nobody": ((UPLOADS, HUGE), "", (401, "not_authenticated")),
    "a token that is none": ((UPLOADS, HUGE), "a" * 64, (401, "authentication_failed")),
    "an analyst": ((UPLOADS, HUGE), "analyst", (403, "permission_denied")),
    "in chunks": ((UPLOADS, 0), "analyst", (403, "permission_denied")),
    "no such dataset": (("/api/v1/datasets/none/uploads/", HUGE), "steward", (404, "not_found")),
    "more than an upload": ((UPLOADS, 3 * HUGE), "steward", (413, "too_large")),
    "more than a file to blur": ((BLURRED, 30_000_000), "steward", (413, "too_large")),
    "more JSON than is read": (
        ("/api/v1/datasets/", 200_000_000, "application/json"),
        "steward",
        (413, "too_large"),
    ),
    "JSON of nobody": (
        ("/api/v1/datasets/", 200_000_000, "application/json"),
        "",
        (401, "not_authenticated"),
    ),
    "a sign-in": (("/sign-in/", 200_000_000, "application/x-www-form-urlencoded"), "", (403, "")),
    "a page of somebody else": ((f"/datasets/{FILLED}/uploads/", HUGE, "multipart/form-data"), "", (302, "")),
    "no page": (("/nothing/", HUGE), "", (404, "")),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_it_answers_before_the_body_comes(site, kind):
    (path, length, *form), who, expected = REFUSED[kind]
    token = {"steward": site.steward, "analyst": site.analyst}.get(who, who)

    status, code = site.answered(site.head(path, length, token=token, kind=form[0] if form else "text/csv"))

    assert (status, code) == expected


def test_it_asks_for_a_body_that_is_welcome(site):
    """By 100, not before; then the upload is taken as it came, in chunks too."""
    rows = CSV + b"".join(b"u%d,,0.5,0.%04d\n" % (at, at % 9973) for at in range(10_000))
    asking = site.head(
        UPLOADS, len(rows), token=site.steward, more="Expect: 100-continue\r\nConnection: close"
    )
    with connected(site.port, timeout=30) as client:
        client.sendall(asking)
        assert statuses(client.recv(65536)) == [100]
        client.sendall(rows)
        assert statuses(rest_of(client)) == [201]
    chunked = site.head(UPLOADS + "?name=again", 0, token=site.steward, more="Connection: close")
    with connected(site.port, timeout=30) as client:
        client.sendall(chunked)
        time.sleep(0.2)
        client.sendall(b"%x\r\n" % len(rows) + rows + b"\r\n0\r\n\r\n")
        answered = rest_of(client)
    assert statuses(answered) == [409]
    assert b"duplicate_upload" in answered  # so its bytes were those of before
    refused = asking.replace(site.steward.encode(), site.analyst.encode())
    assert statuses(exchange(site.port, refused)) == [403]


def test_a_page_takes_a_file_of_who_is_signed_in(site):
    """Its token of forms is in the body: asked about first, checked when it is here."""
    form = b"".join(
        b'--edge\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % part
        for part in (
            (b"csrfmiddlewaretoken", b"", b"a" * 32),
            (b"file", b'; filename="f.csv"', CSV + b"a,,0.5,0.5\n" * 10_000),
        )
    )
    told = {}
    for csrf in ("a" * 32, "b" * 32):
        cookies = f"Connection: close\r\nCookie: sessionid={site.session}; csrftoken={csrf}"
        path, kind = f"/datasets/{FILLED}/uploads/", "multipart/form-data; boundary=edge"
        head = site.head(path, len(form + b"--edge--\r\n"), kind=kind, more=cookies)
        told[csrf[0]] = statuses(exchange(site.port, head + form + b"--edge--\r\n"))

    assert told == {"a": [302], "b": [403]}


def test_what_is_asked_about_is_counted_once(site):
    """Ten files a minute may be blurred: a large one is one too. Nothing else is asked for this person."""
    body = b"a" * 100_000
    head = site.head(BLURRED, len(body), token=site.colleague, more="Connection: close")
    query = f"{BLURRED}?mechanism=planar-laplace&epsilon=1&radius_m=20000&max_reports=1"
    head = head.replace(BLURRED.encode(), query.encode())

    told = [statuses(exchange(site.port, head + body)) for _ in range(11)]

    assert told == [[422]] * 10 + [[429]]


@pytest.mark.parametrize("idle", [110, 500, pytest.param(2000, marks=pytest.mark.long)])
def test_idle_connections_keep_nobody_from_being_served(site, idle):
    with ExitStack() as connections:
        for number in range(idle):
            client = connections.enter_context(connected(site.port))
            if number % 2:
                client.sendall(b"GET /help/ HTTP/1.1\r\nHost: 127")
        began = time.monotonic()
        assert get(site.port, "/help/")[0] == 200
        assert time.monotonic() - began < 9  # the others' headers are waited for ten


def test_large_bodies_of_strangers_are_kept_nowhere(site):
    """Ten of 200 MB for an address that takes JSON: neither memory nor disk."""
    before, most = site.process.memory_info().rss, 0
    head = site.head("/api/v1/tokens/", 200_000_000, kind="application/json")
    with ExitStack() as connections:
        clients = [connections.enter_context(connected(site.port)) for _ in range(10)]
        for client in clients:
            client.sendall(head)
        for _ in range(50):
            for client in clients:
                try:
                    client.sendall(b" " * 2**16)
                except ConnectionError:
                    continue
            most = max(most, site.on_disk())
    assert most < 2**20
    assert site.process.memory_info().rss - before < 50 * 2**20


@pytest.mark.long
@pytest.mark.parametrize("is_behind_proxy", [False, True])
def test_refused_bodies_of_many_get_one_answer_each_also_behind_a_proxy(site, is_behind_proxy):
    guides = f"/api/v1/datasets/{FILLED}/guides/"
    steward = site.colleague if is_behind_proxy else site.steward  # each has a minute of their own
    for _ in range(3):  # a minute's guide files
        exchange(site.port, site.head(guides, 1, token=steward, more="Connection: close") + b"a")
    tokens = {"analyst": site.analyst, "steward": steward}
    refusals = {
        403: (UPLOADS, "analyst", STATED_BYTES),
        404: ("/nothing/", "analyst", STATED_BYTES),
        405: (f"/api/v1/datasets/{FILLED}/", "steward", STATED_BYTES),
        413: ("/api/v1/datasets/", "steward", 3_000_000),
        429: (guides, "steward", STATED_BYTES),
    }

    def request(path, who, stated):
        sent = {"sent": stated} if is_behind_proxy else {}  # which reads all of it before it passes it on
        lines = f"Authorization: Bearer {tokens[who]}", "Content-Type: application/json"
        return post(path, *lines, stated=stated, **sent)

    requests = [request(*refusal) for refusal in refusals.values()]
    count = 10 if is_behind_proxy else 25
    if is_behind_proxy:
        found_or_skip(Tls)
        with Tls.before(site.port) as proxy:
            wrapped = partial(proxy.context.wrap_socket, server_hostname="127.0.0.1")
            got = outcomes(proxy.port, requests, count, wrapped=wrapped)
    else:
        got = outcomes(site.port, requests, count)
    assert got == {
        (number, Answers((status,), is_whole=True)): 12 * count // 5 for number, status in enumerate(refusals)
    }
