"""PostgreSQL is killed under a web process: readable refusals meanwhile; afterwards it goes on by itself."""

import json
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest

from tests.services.programs import Postgres, found_or_skip, free_port, wait_until

pytestmark = [pytest.mark.postgres, pytest.mark.redis]

SESSION = {"Cookie": "sessionid=" + "a" * 32}
CSRF = "a" * 32
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"csrftoken={CSRF}"}
TYPED = urlencode({"login": "marker-page", "password": "marker", "csrfmiddlewaretoken": CSRF})
BEARER = {"Authorization": "Bearer " + "a" * 64}
TOKEN = json.dumps({"username": "marker", "password": "marker", "name": "x", "scopes": ["read"]})
# What is asked: status while the database answers.
PAGES = [
    (("GET", "/public/", None, {}), 200),
    (("GET", "/datasets/", None, SESSION), 302),
    (("GET", "/admin/", None, SESSION), 302),
    (("POST", "/sign-in/", TYPED, FORM), 200),
]
API = [
    (("GET", "/api/v1/datasets/", None, BEARER), 401),
    (("POST", "/api/v1/tokens/", TOKEN, {"Content-Type": "application/json"}), 401),
]
SECRETS = ("psycopg", "OperationalError", "hazemap@", "connection to server", "Traceback", "marker")


class Ask:
    def __init__(self, port, server):
        self.port, self.server = port, server

    def __call__(self, method, path, body, headers):
        """(status, headers, text); status 0 while nobody listens."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        except ConnectionError:
            return 0, {}, ""
        finally:
            connection.close()

    def statuses(self):
        return [self(*asked)[0] for asked, _ in PAGES + API]


@pytest.fixture
def ask(world, redis, tmp_path):
    """A web process with a PostgreSQL of its own."""
    found_or_skip(Postgres)
    with Postgres.started(in_memory=True) as server:
        made = world.installation(tmp_path, "postgresql", server=server, broker_url=redis.url)
        port = free_port()
        listen = f"--listen=127.0.0.1:{port}"
        with made.running("-m", "waitress", "--threads=1", listen, "heatmaps.config.wsgi:application"):
            asking = Ask(port, server)
            wait_until(lambda: asking("GET", "/help/", None, {})[0], seconds=60, what="an answer")
            yield asking
        for marker in ("marker", "connection to server"):
            assert marker not in made.output()
        assert "database.away" in made.output()


@pytest.mark.long
def test_it_says_that_the_database_is_away_and_goes_on_when_it_is_back(ask):
    usual = [status for _, status in PAGES + API]
    assert ask.statuses() == usual
    ask.server.kill()
    for _ in range(2):  # the second time without a connection of before
        for asked, _ in PAGES:
            check_page(*ask(*asked))
        for asked, _ in API:
            check_problem(*ask(*asked))
    assert ask("GET", "/sign-in/", None, {})[0] == 200  # needs no database
    ask.server.restart()
    assert ask.statuses() == usual


def check_page(status, headers, text):
    assert status == 503
    assert "The database does not answer" in text
    assert f"<code>{headers['X-Request-ID']}</code>" in text
    check_any(headers, text)


def check_problem(status, headers, text):
    assert (status, headers["Content-Type"]) == (503, "application/problem+json")
    problem = json.loads(text)
    assert (problem["code"], problem["status"]) == ("unavailable", 503)
    assert headers["X-Request-ID"] in problem["detail"]
    check_any(headers, text)


def check_any(headers, text):
    assert 0 < int(headers["Retry-After"]) <= 60
    assert not [secret for secret in SECRETS if secret in text]
