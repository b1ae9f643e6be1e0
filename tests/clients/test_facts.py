"""Facts are read strictly: what is not as agreed is refused by name."""

import base64
import json

import pytest
from hazemap_device import DeviceError
from hazemap_device.facts import Facts

from tests.clients.rounds import KINDS, Round, shares, unary, written


def refusal(content):
    with pytest.raises(DeviceError) as found:
        Facts.from_bytes(content)
    assert found.value.code == "bad_facts"
    return str(found.value)


@pytest.mark.parametrize("kind", KINDS)
def test_facts_of_every_kind_are_read(kind):
    round_ = Round(KINDS[kind]())
    facts = Facts.from_bytes(round_.content)
    assert facts.encoding.messages == facts.messages == round_.facts["messages"]
    assert facts.encoding.table_bytes == len(round_.table)


CHANGES = {
    "kind": ["hazemap", 1],
    "version": [0, 2, True, "1"],
    "round": ["x", "12345678-1234-1234-1234-12345678901", "{12345678-1234-1234-1234-123456789012}"],
    "collection": ["", "a b", 3],
    "number": [0, -1, "1"],
    "region": [
        ["16", "48", "17"], ["17", "48", "16", "49"], ["16", "48", "16.00001", "49"],
        ["nan", "48", "17", "49"],
        ["16", "48", "181", "49"], [16, 48, 17, 49], ["0x10", "48", "17", "49"], [" 16", "48", "17", "49"],
    ],
    "mechanism": ["<b>"],
    "trust": ["central", ""],
    "encoding": [{}, [], {"kind": "unary"}, {"kind": "none"}],
    "table_sha256": ["00", "AA" * 32, "zz" * 32],
    "messages": [0, -5, 1, 2**53 - 1, 65_537],
    "message_bytes": [0, 2, 65],
    "reports_per_person": [0, 10**6 + 1],
    "invitations": [-1],
    "invitations_sha256": [""],
    "open_link": [0, "true"],
    "least_honest": [0, 8],
    "dishonest_share": ["1", "0.2", "-0.1", ".1", 0],
    "least_reports": [9, 11],
    "opens_at": [-1, 2**52],
    "closes_at": [0, 253_402_300_800, 2**53 - 1],
    "analyser": [{"operator": "x", "url": "https://a.example"}, "https://a.example"],
    "loss": [{"epsilon": "1"}, {"epsilon": "x", "delta": "0", "radius_m": "1", "record_epsilon": "inf"},
             {"epsilon": "1", "delta": "inf", "radius_m": "1", "record_epsilon": "inf"}],
    "page_sha384": ["x"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in CHANGES.items() for value in values], ids=repr
)
def test_a_value_that_is_not_as_agreed_is_refused(key, value):
    refusal(written({**Round().facts, key: value}))


@pytest.mark.parametrize("url", [
    "http://maps.example", "ftp://maps.example", "//maps.example", "https://", "https://user:word@maps.example",
    "https://maps.example/?a", "https://maps.example/#a", "https://maps.example\n", "javascript:1",
    "http://127.0.0.1.example", "http://localhost:99999999", "https://mäps.example",
])  # fmt: skip
def test_an_address_that_is_not_https_or_this_machine_is_refused(url):
    round_ = Round()
    round_.facts["analyser"]["url"] = url
    assert "url" in refusal(round_.content)


@pytest.mark.parametrize("key", [
    "", "AAAA", base64.urlsafe_b64encode(bytes(32)).decode().rstrip("="),  # a point of small order
    base64.urlsafe_b64encode(bytes(range(32))).decode(), "A" * 42 + "B", "A" * 42 + "/",
])  # fmt: skip
def test_a_key_that_is_none_is_refused(key):
    round_ = Round()
    round_.facts["shuffler"]["key"] = key
    assert "shuffler: key" in refusal(round_.content)


def test_equal_keys_are_refused():
    round_ = Round()
    round_.facts["shuffler"]["key"] = round_.facts["analyser"]["key"]
    assert "keys" in refusal(round_.content)


def test_a_key_that_is_missing_or_too_much_is_refused():
    facts = Round().facts
    refusal(written({key: value for key, value in facts.items() if key != "title"}))
    refusal(written({**facts, "person": "x"}))


def test_numbers_with_a_point_or_beyond_2_53_are_refused():
    content = Round().content
    assert "form" in refusal(content.replace(b'"number":3', b'"number":3.0'))
    assert "form" in refusal(content.replace(b'"number":3', b'"number":3e0'))
    assert "form" in refusal(content.replace(b'"number":3', b'"number":NaN'))
    assert "form" in refusal(content.replace(b'"number":3', b'"number":9007199254740992'))
    assert "form" in refusal(content.replace(b'"number":3', b'"number":' + b"9" * 10_000))


@pytest.mark.parametrize("content", [
    b"", b"[]", b"{}", b"null", b"[" * 100_000, b"\xff", json.dumps(Round().facts).encode(),
    Round().content + b" ", Round().content.replace(b'"number":3', b'"number":3,"number":3'),
    Round().content.replace(b"City", "Cité".encode()), b"x" * (1 << 18) + b"x",
])  # fmt: skip
def test_another_text_of_the_same_is_refused(content):
    refusal(content)


def test_a_report_that_is_too_large_is_refused():
    encoding, table, _, size = shares(levels=(8,), count=200)
    assert "messages" in refusal(Round((encoding, table, 200 * 4**8, size)).content)


def test_a_table_that_is_too_large_is_refused():
    encoding, table, messages, size = shares()
    large = {**encoding, "cluster_entries": [10**6] * 2, "number_bytes": 1024}
    assert "table" in refusal(Round((large, table, messages, size)).content)


@pytest.mark.parametrize("change", [
    {"places": 51}, {"domain": 39, "places": 51}, {"padding": 0, "places": 40}, {"number_bytes": 0},
    {"domains": [40]}, {"domains": [40, 0]}, {"cell_um": 0}, {"cell_um": 1.5}, {"extra": 1},
])  # fmt: skip
def test_parameters_that_do_not_fit_together_are_refused(change):
    encoding, *rest = unary()
    refusal(Round(({**encoding, **change}, *rest)).content)


@pytest.mark.parametrize("change", [
    {"modulus": 2**30 + 1}, {"modulus": 2**33}, {"levels": [1, 3]}, {"scales": ["1"]}, {"shares": 1},
    {"scales": ["0", "1"]}, {"scales": ["1.5e3", "1"]}, {"cluster_entries": [2]}, {"levels": []},
])  # fmt: skip
def test_parameters_of_shares_that_do_not_fit_together_are_refused(change):
    encoding, *rest = shares()
    refusal(Round(({**encoding, **change}, *rest)).content)
