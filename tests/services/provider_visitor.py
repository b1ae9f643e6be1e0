"""Somebody who goes to the tests' provider without a browser: signs in there, agrees, and is sent back."""

import re
from html import unescape
from urllib.parse import urlsplit

import httpx

from tests.services.provider import PASSWORD


def back_from(location, name, *, agrees=True):
    """Where the provider sends `name` back to, who came by `location`: path and query."""
    with httpx.Client(timeout=30) as browser:
        page = browser.get(location, follow_redirects=True)
        filled = {"username": name, "password": PASSWORD, **hidden(page)}
        page = browser.post(page.url, data=filled, follow_redirects=True)
        answer = browser.post(page.url, data=hidden(page) | ({"allow": "Allow"} if agrees else {}))
    parts = urlsplit(answer.headers["location"])
    return f"{parts.path}?{parts.query}"


def hidden(page):
    """The fields of a page that nobody fills in."""
    found = (
        dict(re.findall(r"""(\w+)=["']?([^"'>\s]*)""", tag)) for tag in re.findall("<input[^>]*>", page.text)
    )
    fields = [one for one in found if one.get("type") == "hidden"]
    return {one["name"]: unescape(one.get("value", "")) for one in fields}
