"""Reads what lies in a queue: the name of a task and ids. Nothing else of a message is believed.

Whoever can write into a queue could otherwise end a worker by a message that is none, kill its processes by a
limit of time, or have it hold a message for years.
"""

import json
import re
from base64 import b64decode, b64encode
from typing import Any, Final
from uuid import UUID, uuid4

from celery import current_app
from django.conf import settings

from heatmaps.broker import queue

MOST_BYTES: Final = 16 * 1024  # ours have some 1,100
_DEFAULT_QUEUE: Final = "celery"
_ID: Final = re.compile(r"[0-9a-f-]{1,36}")  # of a row: a UUID or a number
# Of JSON of another shape, or deeper than Python reads; UnicodeDecodeError is a ValueError.
_UNREADABLE: Final = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

Json = dict[str, Any]


def read(content: bytes, queue_name: str) -> Json | None:
    """Returns the message as Celery would have sent it, made anew; None for what is no task of this queue."""
    if len(content) > MOST_BYTES:
        return None
    try:
        message = json.loads(content)
        headers = message["headers"]
        name, task_id = headers["task"], str(UUID(headers["id"]))
        ids, _, _ = json.loads(b64decode(message["body"], validate=True))
        if not _is_task(name, ids, queue_name):
            return None
    except _UNREADABLE:
        return None
    return _message(name, task_id, ids, queue_name)


def _is_task(name: object, ids: object, queue_name: str) -> bool:
    if not isinstance(name, str) or not isinstance(ids, list) or queue.IDS.get(name) != len(ids):
        return False
    if not all(isinstance(each, str) and _ID.fullmatch(each) for each in ids):
        return False
    route = settings.CELERY_TASK_ROUTES.get(name, {})
    return bool(route.get("queue", _DEFAULT_QUEUE) == queue_name)


def _message(name: str, task_id: str, ids: list[str], queue_name: str) -> Json:
    task = current_app.amqp.as_task_v2(task_id, name, args=ids, kwargs={}, ignore_result=True)
    return {
        "body": b64encode(json.dumps(task.body).encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": task.headers,
        "properties": {
            "body_encoding": "base64",
            "correlation_id": task_id,
            "delivery_info": {"exchange": "", "routing_key": queue_name},
            "delivery_tag": str(uuid4()),
            "priority": 0,
        },
    }
