"""Plain requests to a server of a test."""

import contextlib
import json
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen


def get(port, path, *, session=None, host=None):
    """(status, body) of a page; (0, "") while nobody listens."""
    headers = {} if session is None else {"Cookie": f"sessionid={session}"}
    headers |= {} if host is None else {"Host": host}
    with contextlib.suppress(URLError, ConnectionError, TimeoutError):
        try:
            with urlopen(Request(f"http://127.0.0.1:{port}{path}", headers=headers), timeout=30) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()
    return 0, ""


def is_whole(port):
    """Returns whether a server answers and misses none of its parts."""
    return health(port) == (200, "")


def health(port):
    """(status, reason) of /healthz."""
    status, body = get(port, "/healthz")
    return status, json.loads(body).get("reason", "") if body else ""
