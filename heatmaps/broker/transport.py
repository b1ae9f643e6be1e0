"""Lets workers take messages from Redis by one command, and drop what is no message of ours.

A message is gone from Redis once it is taken: Redis holds no list of what workers have, which others could
read or spoil. What a worker that is killed had taken, the sweep sends again, as the database knows what is to
be done; a worker that stops, or loses a process, puts it back itself.
"""

from time import monotonic
from typing import Any

import structlog
from django.conf import settings
from kombu.transport import redis
from kombu.transport.virtual import Empty

from heatmaps.broker import messages

_log = structlog.stdlib.get_logger(__name__)


class Channel(redis.Channel):
    """Takes from lists, one for each queue, and does nothing else in Redis."""

    ack_emulation = False
    supports_fanout = False  # each task is sent to a queue by name, and none to many
    priority_steps = [0]  # as kombu has it

    def is_taking(self, queue_name: str) -> bool:
        """Returns whether this process takes from a queue, or has as many messages as it may."""
        if queue_name not in self.active_queues:
            return False
        taken_at = self._brpop_sent_at
        is_fresh = taken_at is not None and monotonic() - taken_at < settings.SILENCE_SECONDS
        return is_fresh or not self.qos.can_consume()

    def _brpop_read(self, **options: Any) -> bool:
        """Reads an answer as kombu does, and drops what is no task. Errors: Empty; of Redis."""
        try:
            try:
                answer = self.client.parse_response(self.client.connection, "BRPOP", **options)
            except self.connection_errors:
                self.client.connection.disconnect()
                raise
            if not answer:
                raise Empty
            queue_name = answer[0].decode()
            self._queue_cycle.rotate(queue_name)
            message = messages.read(answer[1], queue_name)
            if message is None:
                _log.warning("message.dropped", queue=queue_name)
            else:
                self.connection._deliver(message, queue_name)
            return True
        finally:
            self._in_poll = False

    def _size(self, _queue_name: str) -> int:
        """Returns 0: nobody asks how many wait."""
        return 0


class Transport(redis.Transport):
    """Serves `CELERY_BROKER_TRANSPORT`."""

    Channel = Channel
