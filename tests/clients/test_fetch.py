"""Reading and sending: no other host, no proxy on this machine, no more than was agreed."""

import socket

import pytest
from hazemap_device import DeviceError
from hazemap_device import fetch as client

from tests.clients.roles import roles
from tests.clients.test_report import HERE


def code_of(call):
    with pytest.raises(DeviceError) as refusal:
        call()
    return refusal.value.code


def test_a_redirect_to_another_host_is_refused(served, device):
    with roles() as other:
        other.round = served.round
        served.redirect = f"{other.url}/shuffler/rounds/{served.round.id}/facts.json"
        assert code_of(lambda: device.report(served.link, [HERE])) == "redirected"
        assert other.paths == []


def test_a_proxy_of_the_environment_is_not_asked_on_this_machine(served, device, monkeypatch):
    with roles() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        client._opener.cache_clear()  # what was made before does not know this proxy
        device.report(served.link, [HERE])
        assert proxy.paths == []
        client._opener.cache_clear()


def test_more_bytes_than_agreed_are_refused(served):
    size = len(served.round.content)
    address = f"{served.url}/shuffler/rounds/{served.round.id}/facts.json"
    assert client.fetch(address, most_bytes=size) == served.round.content
    assert code_of(lambda: client.fetch(address, most_bytes=size - 1)) == "too_large"


def test_a_table_that_is_longer_than_agreed_is_refused(served, device):
    served.round.table += b"\0"
    assert code_of(lambda: device.report(served.link, [HERE])) == "too_large"


def test_a_server_that_is_not_there_is_said_so():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"http://127.0.0.1:{gone.getsockname()[1]}/"
    assert code_of(lambda: client.fetch(address, most_bytes=1)) == "no_connection"


def test_a_server_that_says_nothing_is_left(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(client, "TIMEOUT_S", 0.2)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert code_of(lambda: client.fetch(address, most_bytes=1)) == "no_connection"


@pytest.mark.parametrize("url", ["http://maps.example/", "file://localhost/x", "data:,x", "ftp://127.0.0.1/"])
def test_other_addresses_are_not_opened(url):
    assert code_of(lambda: client.fetch(url, most_bytes=10)) == "bad_address"


def test_an_unknown_round_is_said_so(served, device):
    served.round.id = served.round.id.replace(served.round.id[0], "f")
    link = served.link.replace(served.round.id, "00000000-0000-4000-8000-000000000000")
    assert code_of(lambda: device.report(link, [HERE])) == "unknown_round"


def test_facts_of_another_round_are_refused(served, device):
    served.round.facts["round"] = "00000000-0000-4000-8000-000000000000"
    assert code_of(lambda: device.report(served.link, [HERE])) == "other_round"


@pytest.mark.parametrize("link", [
    "", "https://maps.example/", "https://maps.example/contribute/#x", "http://maps.example/contribute/#{}",
    "https://maps.example/contribute/#{}.short", "https://maps.example/contribute/#{}.",
])  # fmt: skip
def test_a_link_that_is_none_is_refused(link, device):
    link = link.format("00000000-0000-4000-8000-000000000000")
    assert code_of(lambda: device.report(link, [HERE])) == "bad_link"
