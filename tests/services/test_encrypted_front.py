"""The web server where it ends TLS itself: what it speaks, and that nobody waits for another's handshake."""

import contextlib
import re
import socket
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from heatmaps.front import certificate, headers, limits
from tests.services.front import Front, connected, rest_of, sent_until_ended, statuses
from tests.services.programs import found_or_skip, wait_until
from tests.services.tls import Tls, made_certificate

HOST = b"Host: 127.0.0.1\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST
LAST = GET + b"Connection: close\r\n\r\n"
POST = b"POST /api/v1/tokens/ HTTP/1.1\r\n" + HOST


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    found_or_skip(Tls)
    return made_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def front(files):
    with Front(certificate.context(*files)) as made:
        yield made


@pytest.fixture
def trusting(files):
    return ssl.create_default_context(cafile=files[0])


@pytest.fixture
def secured(front, trusting):
    """Makes connections that have shaken hands; an end that is not said is an error of theirs."""
    with contextlib.ExitStack() as opened:

        def connect(context=trusting):
            plain = opened.enter_context(connected(front.port))
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as browsers do
            wrapped = context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False)
            return opened.enter_context(wrapped)

        yield connect


def ended(client, sent):
    """What is answered to the last request of a connection."""
    client.sendall(sent)
    return rest_of(client)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_it_answers_by_tls_and_knows_that_it_does(front, secured, trusting, version):
    schemes = []
    answer = front.server.application
    front.server.application = lambda environ, start: (
        schemes.append(environ["wsgi.url_scheme"]),
        answer(environ, start),
    )[1]
    trusting.minimum_version = trusting.maximum_version = version
    trusting.set_alpn_protocols(["h2", "http/1.1"])

    client = secured()
    answered = ended(client, GET + b"\r\n" + LAST)  # both in one record

    assert answered.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert schemes == ["https", "https"]
    assert client.selected_alpn_protocol() == "http/1.1"
    assert not client.session.has_ticket


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_it_speaks_nothing_older(front, files, version):
    """Also where a client's own library still would."""
    old = ssl.create_default_context(cafile=files[0])
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = version, version
    with connected(front.port) as client, pytest.raises(ssl.SSLError, match="ALERT_PROTOCOL_VERSION"):
        old.wrap_socket(client, server_hostname="127.0.0.1")


@pytest.mark.parametrize("said", [LAST, b"GET / HTTP/1.0\r\n\r\n", POST + b"Content-Length: 2\r\n\r\n{}"])
def test_it_refuses_what_is_no_tls(front, said):
    with connected(front.port) as client:
        assert b"HTTP/" not in ended(client, said)
    assert front.seen == []


def stalled(front, trusting, sent):
    """A client that stops after some bytes of its first message, or of its second where there are more."""
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    shaking = trusting.wrap_bio(into, out, server_hostname="127.0.0.1")
    with contextlib.suppress(ssl.SSLWantReadError):
        shaking.do_handshake()
    hello = out.read()
    client = connected(front.port)
    client.sendall(hello[:sent])
    if sent > len(hello):
        into.write(client.recv(65536))
        with contextlib.suppress(ssl.SSLWantReadError):
            shaking.do_handshake()
        client.sendall(out.read()[:10])
    return client


@pytest.mark.parametrize("sent", [0, 3, 100, 100_000], ids=["nothing", "half a head", "half", "half its end"])
def test_who_stalls_in_a_handshake_stops_nobody_and_is_ended(front, secured, trusting, monkeypatch, sent):
    monkeypatch.setattr(limits, "HEADER_SECONDS", 60)  # until all of them are there
    monkeypatch.setattr(limits, "LINGER_SECONDS", 0.2)
    waiting = [stalled(front, trusting, sent) for _ in range(40)]
    wait_until(lambda: len(front.server.active_channels) == 40, seconds=30, what="all of them")
    began = time.monotonic()

    assert statuses(ended(secured(), LAST)) == [200]

    assert time.monotonic() - began < 5
    assert len(front.server.active_channels) >= 40
    monkeypatch.setattr(limits, "HEADER_SECONDS", 0.2)
    wait_until(lambda: not front.server.active_channels, seconds=30, what="the end of all")
    for client in waiting:
        client.close()


def test_who_stalls_in_a_handshake_makes_room(front, secured, trusting, monkeypatch):
    monkeypatch.setattr(limits, "CONNECTIONS_OF_ADDRESS", 10)
    monkeypatch.setattr(limits, "HEADER_SECONDS", 1000)
    served = secured()
    served.sendall(POST + b"Connection: close\r\nContent-Length: 2\r\n\r\n{")
    waiting = [stalled(front, trusting, 100) for _ in range(30)]

    assert all(rest_of(client) == b"" for client in waiting[:20])  # which it ended
    assert statuses(ended(served, b"}")) == [200]
    for client in waiting:
        client.close()


def test_much_goes_both_ways_at_once_and_unchanged(front, secured):
    """Also while threads write and the loop reads, and in answers larger than any buffer."""
    big = bytes(range(256)) * 2**13  # 2 MiB

    def mirror(environ, start):
        body = environ["wsgi.input"].read()
        start("200 OK", [("Content-Length", str(len(big) + len(body)))])
        return [big, body]

    front.server.application = mirror
    head = POST + b"Content-Length: 50000\r\n"
    clients = [secured() for _ in range(6)]

    def asked(number):
        body = bytes([number]) * 50_000
        last = head + b"Connection: close\r\n\r\n"
        clients[number].sendall((head + b"\r\n" + body) * 2 + last + body)
        return b"".join(iter(lambda: clients[number].recv(65536), b"")).count(big + body)

    with ThreadPoolExecutor(len(clients)) as pool:
        assert list(pool.map(asked, range(len(clients)))) == [3] * len(clients)


def test_who_does_not_read_is_ended(front, secured, monkeypatch):
    """By a cut: nothing says to the client that its answer was whole. Who only begins late gets all of it."""
    big = b"a" * 20_000_000  # more than the system's own buffers take
    front.server.application = lambda _environ, start: (
        start("200 OK", [("Content-Length", str(len(big)))]),
        [big],
    )[1]
    monkeypatch.setattr(limits, "LINGER_SECONDS", 0.2)
    client, late = secured(), secured()
    for each in (client, late):
        each.sendall(LAST)
        each.recv(1)
    (connection,) = (one for one in front.server.active_channels.values() if one.addr == late.getsockname())
    wait_until(lambda: time.time() > connection.last_activity + 0.2, seconds=30, what="full buffers")
    assert len(b"".join(iter(lambda: late.recv(65536), b""))) > len(big)
    monkeypatch.setattr(limits, "STALLED_SECONDS", 0.2)
    wait_until(lambda: not front.server.active_channels, seconds=60, what="its end")

    with pytest.raises((ssl.SSLEOFError, ConnectionError)):
        b"".join(iter(lambda: client.recv(65536), b""))


def test_a_refusal_reaches_who_still_sends(front, secured, settings):
    settings.HTTPS = True
    client = secured()
    client.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
    sent_until_ended(client, b"10000\r\n" + b"a" * 65536 + b"\r\n", 2**23)

    answered = rest_of(client)

    assert statuses(answered) == [413]
    assert f"{headers.HSTS}: max-age=".encode() in answered
    assert front.seen == []


def test_a_record_that_was_changed_ends_the_connection(front, secured):
    client = secured()
    with socket.socket(fileno=socket.dup(client.fileno())) as raw:
        raw.settimeout(30)
        raw.sendall(b"\x17\x03\x03\x00\x20" + b"x" * 32)
        assert b"HTTP/" not in rest_of(raw)
    wait_until(lambda: not front.server.active_channels, seconds=30, what="its end")


def test_it_says_which_file_is_wrong(files, tmp_path):
    chain, key = files
    (tmp_path / "other").mkdir()
    _, other = made_certificate(tmp_path / "other")
    protected, unreadable, junk = (tmp_path / name for name in ("protected", "unreadable", "junk"))
    junk.write_text("-----BEGIN CERTIFICATE-----\nm4rker\n-----END CERTIFICATE-----\n")
    encrypt = ["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:long", "-out", protected]
    subprocess.run(encrypt, check=True, capture_output=True)
    unreadable.mkdir()
    wrong = {
        (chain, None): "--certificate and --key go together",
        (None, key): "--certificate and --key go together",
        (chain, tmp_path / "absent"): f"{tmp_path / 'absent'}: No such file or directory",
        (unreadable, key): f"{unreadable}: Is a directory",
        (junk, key): f"{junk} holds no certificate in PEM",
        (key, key): f"{key} holds no certificate in PEM",
        (chain, junk): f"{junk} holds no private key in PEM",
        (chain, protected): f"{protected} is encrypted; a server that starts by itself needs it without",
        (chain, other): f"{other} is not the key of {chain}",
    }
    for given, reason in wrong.items():
        with pytest.raises(certificate.BadCertificate) as caught:
            certificate.optional_context(*given)
        assert str(caught.value) == reason
    assert certificate.optional_context(None, None) is None


def test_it_warns_of_keys_that_others_read_and_of_what_has_ended(files, tmp_path):
    chain, key = made_certificate(tmp_path)
    assert certificate.doubts(*files) == certificate.doubts(None, None) == []
    for mode, is_open in ((0o600, False), (0o640, False), (0o644, True), (0o620, True)):
        key.chmod(mode)
        told = certificate.doubts(chain, key)
        assert told == [f"the private key {key} is open to other accounts; chmod 600 closes it"] * is_open
    key.chmod(0o600)
    (told,) = certificate.doubts(chain, key, now=datetime.now(UTC) + timedelta(days=3))
    assert re.fullmatch(r"the certificate \S+ ended on 20\d\d-\d\d-\d\d; browsers refuse it", told)
