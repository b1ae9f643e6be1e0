"""Facts are read strictly: what is not as agreed is refused by name."""

import json

import pytest
from hazemap_device import DeviceError
from hazemap_device.facts import Facts

from tests.clients.bad_facts import all_of_them
from tests.clients.rounds import KINDS, Round, shares, written


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


BAD = dict(all_of_them())


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_as_agreed_is_refused(name):
    refusal(BAD[name])


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
