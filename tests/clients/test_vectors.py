"""Test vectors of every mechanism: for given random words the messages that all clients make."""

import base64

import pytest
from hazemap_device.encodings import KINDS, encoding_of

from mechanisms.devices import catalogue
from tests.clients.test_random_words import Words
from tests.mechanisms.devices.vectors import vectors

NAMES = [entry.name for entry in catalogue.entries()]


@pytest.fixture(scope="module")
def of_all():
    return {vector["mechanism"]: vector for vector in vectors()}


def words_of(report):
    text = report["words"]
    return Words(int(text[at : at + 16], 16) for at in range(0, len(text), 16))


def drawn(vector, report):
    encoding = encoding_of(vector["encoding"])
    cells = [tuple(place) for place in report["places"]]
    words = words_of(report)
    messages = encoding.report(cells, base64.b64decode(vector["table"]), words)
    return messages, words


def test_there_are_vectors_of_every_mechanism_and_every_kind(of_all):
    assert set(of_all) == set(NAMES)
    assert {vector["encoding"]["kind"] for vector in of_all.values()} == set(KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_messages_are_those_of_the_vectors(name, of_all):
    vector = of_all[name]
    encoding = encoding_of(vector["encoding"])
    assert (encoding.messages, encoding.message_bytes) == (vector["messages"], vector["message_bytes"])
    for report in vector["reports"]:
        messages, words = drawn(vector, report)
        assert b"".join(messages).hex() == report["messages"]
        assert words.used == len(words.left)


@pytest.mark.parametrize("name", NAMES)
def test_other_words_or_places_would_be_seen(name, of_all):
    """Each vector says something: not all reports of a mechanism are alike."""
    assert len({report["messages"] for report in of_all[name]["reports"]}) > 1
