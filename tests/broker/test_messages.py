"""What counts of a message: a task's name and ids."""

import json
from base64 import b64decode
from uuid import UUID, uuid4

import pytest

from heatmaps.broker import messages
from tests.broker import odd

RELEASE = str(uuid4())


def read(entry, queue="draws"):
    return messages.read(entry if isinstance(entry, bytes) else entry.encode(), queue)


@pytest.mark.parametrize("entry", odd.ENTRIES, ids=range(len(odd.ENTRIES)))
def test_it_takes_nothing_that_is_no_task(entry):
    assert read(entry) is None


def test_it_takes_a_task_of_its_own_queue_alone():
    told = read(odd.message(ids=(RELEASE,)))
    assert json.loads(b64decode(told["body"]))[0] == [RELEASE]
    assert told["headers"]["task"] == "heatmaps.release"
    assert told["properties"]["delivery_info"]["routing_key"] == "draws"
    assert all(read(odd.message(ids=(RELEASE,)), queue) is None for queue in ("celery", "lakes", "surveys"))
    assert read(odd.message("heatmaps.sweep", ids=()), "celery") is not None
    assert read(odd.message("heatmaps.survey", ids=("7",)), "surveys") is not None


HOSTILE = {
    "timelimit": [0.001, 0.001],
    "eta": "2222-01-01T00:00:00Z",
    "expires": "2001-01-01T00:00:00Z",
    "retries": 10**9,
    "group": odd.MARKER,
    "reply_to": odd.MARKER,
    "argsrepr": odd.MARKER,
    "stamps": {"x": odd.MARKER},
    "compression": "gzip",
}


def test_nothing_else_of_it_is_believed():
    """Neither limits nor moments nor what comes next, nor under which name it is put back."""
    links = {"callbacks": [odd.MARKER], "errbacks": [odd.MARKER], "chain": [odd.MARKER], "chord": odd.MARKER}
    hostile = odd.message(
        headers=HOSTILE,
        properties={"delivery_tag": odd.MARKER, "delivery_info": {"routing_key": "celery"}, "priority": 9},
        body=odd.body(RELEASE, more=links, keywords={"x": odd.MARKER}),
    )
    told = read(hostile)
    assert told["headers"]["timelimit"] == [None, None]
    assert {told["headers"][name] for name in ("eta", "expires", "group")} == {None}
    assert told["headers"]["retries"] == told["properties"]["priority"] == 0
    assert told["properties"]["delivery_info"] == {"exchange": "", "routing_key": "draws"}
    UUID(told["properties"]["delivery_tag"])
    ids, keywords, links = json.loads(b64decode(told["body"]))
    assert (ids, keywords, set(links.values())) == ([RELEASE], {}, {None})
    assert odd.MARKER not in json.dumps(told)
