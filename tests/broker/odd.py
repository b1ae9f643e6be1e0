"""Entries of a queue that are no task of ours; each holds MARKER, or is empty."""

import base64
import json
import uuid

MARKER = "marker-content"
LARGE = 8 * 2**20  # bytes


def body(*ids, more=None, keywords=None):
    told = [
        list(ids),
        keywords or {},
        more or {"callbacks": None, "errbacks": None, "chain": None, "chord": None},
    ]
    return base64.b64encode(json.dumps(told).encode()).decode()


def message(task="heatmaps.release", ids=("1",), queue="draws", **changed):
    """As Celery writes it, with parts changed; None leaves a part out. `headers`, `properties`: of these."""
    task_id = str(uuid.uuid4())
    headers = {
        "lang": "py",
        "task": task,
        "id": task_id,
        "root_id": task_id,
        "retries": 0,
        "argsrepr": MARKER,
    }
    headers |= {"timelimit": [None, None], "eta": None, "expires": None, "group": None, "parent_id": None}
    properties = {"body_encoding": "base64", "correlation_id": task_id, "priority": 0, "delivery_mode": 2}
    properties |= {"delivery_info": {"exchange": "", "routing_key": queue}, "delivery_tag": task_id}
    made = {"body": body(*ids), "content-type": "application/json", "content-encoding": "utf-8"}
    made |= {"headers": headers | changed.pop("headers", {})}
    made |= {"properties": properties | changed.pop("properties", {})}
    return json.dumps({name: value for name, value in (made | changed).items() if value is not None})


def without(part, name):
    told = json.loads(message())
    del told[part][name]
    return json.dumps(told)


ENTRIES = [
    *("", "not json " + MARKER, "{", "[]", "0", "null", '"x"', "true", "NaN", b"\xff\xfe\x00"),
    *("[" * 100_000, '{"a":' * 5_000, "9" * 5_000, json.dumps({"x": MARKER}), json.dumps([MARKER] * 3)),
    *(
        message(headers=x)
        for x in ({"task": None}, {"task": 7}, {"task": ["heatmaps.release"]}, {"id": None})
    ),
    *(message(headers=x) for x in ({"id": "x"}, {"id": ["x"]}, {"id": {"x": 1}}, {"task": {"x": MARKER}})),
    *(without("headers", name) for name in ("task", "id")),
    *(
        message(x)
        for x in ("unknown.task", "celery.map", "celery.chord", "celery.starmap", "heatmaps.releases")
    ),
    *(
        message(x, ids=()) for x in ("heatmaps.sweep", "celery.backend_cleanup")
    ),  # of another queue, of Celery
    *(message(x, ids=("1",)) for x in ("heatmaps.ingest", "heatmaps.survey", "heatmaps.source_release")),
    *(message(ids=x) for x in ((), (MARKER,), (1,), (None,), (["1"],), ("1", "2"), ("1\n",), ("ä" * 9,))),
    *(message(ids=x) for x in (("a" * 5_000,), ("../" * 5,), ({"a": MARKER},))),
    *(message(body=x) for x in (None, "", "ä", "not base64 " + MARKER, 7, [], {"x": MARKER}, "AA==")),
    *(message(body=base64.b64encode(x).decode()) for x in (b"[]", b"{}", b"[[],{}]", b"\x80\x04.", b"null")),
    *(json.dumps(json.loads(message()) | {"headers": x}) for x in ([], "x", 7, None)),
    *(json.dumps(json.loads(message()) | {"properties": x, "headers": {}}) for x in ([], "x", 7, None)),
    *("x" * LARGE, message(body="A" * LARGE), message(ids=("1",) * 200_000)),
]
