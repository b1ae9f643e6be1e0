"""Closes rounds, mixes the messages of all reports, and hands them over until that is acknowledged.

Which packets a round has is settled by one committed change of its state. From there on everything follows
from them alone: a hand-over that is repeated, also by another process, is the same batch.
"""

import logging
import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.shuffler import sealing
from heatmaps.shuffler.analyser import Analyser
from heatmaps.shuffler.life import forgetting, round_files
from heatmaps.shuffler.life.packet_file import PacketFile
from heatmaps.shuffler.models import Collection, Round, State

_AT_ONCE: Final = 2**14  # messages

_log = logging.getLogger(__name__)


def close_due(collection: Collection) -> None:
    """Takes no more packets of rounds whose closing moment has come."""
    now = int(time.time())
    for due in Round.objects.filter(collection=collection, state=State.READY, closes_at__lte=now):
        Round.objects.filter(pk=due.pk, state=State.READY).update(state=State.CLOSING)
        _log.info("round %s: closed", due.pk)
    for closing in Round.objects.filter(collection=collection, state=State.CLOSING):
        round_files.destroy_secrets(closing.pk)
        round_files.destroy_link_key(closing.pk)
    unfixed = Round.objects.filter(collection=collection, state=State.PREPARED)
    for never_ready in unfixed.filter(closes_at__lte=now):
        forgetting.end(never_ready, State.GIVEN_UP)


def hand_over(closed: Round, analyser: Analyser) -> None:
    """Hands over, and forgets when it is acknowledged. Errors: AnalyserAway, AnalyserRefuses."""
    batch, reports = mixed(closed)
    analyser.hand_over(closed.pk, batch, reports=reports)
    forgetting.end(closed, State.HANDED_OVER if batch.nbytes else State.TOO_FEW)


def mixed(closed: Round) -> tuple[memoryview, int]:
    """Returns all sealed messages, ascending, each once, and the number of reports; empty with too few.

    The order is a function of the set of messages: nothing is left in it of who sent which, or when, and
    unlike a random order it is the same when a killed hand-over is repeated.
    """
    file = PacketFile.of_round(closed)
    if (stored := file.count()) < closed.least_reports:
        return memoryview(b""), stored
    opener = sealing.PacketOpener(round_files.read_key(closed.pk), closed.facts)
    messages, reports = bytearray(), 0
    for packet in file.packets():
        if (opened := opener.opened(packet)) is not None:
            messages += opened
            reports += 1
    if reports < closed.least_reports:
        return memoryview(b""), reports
    return ascending(messages, sealing.OVERHEAD_BYTES + closed.message_bytes), reports


def ascending(content: bytearray, size: int) -> memoryview:
    """Sorts the messages of `size` bytes, each once: the front of `content`, without a copy."""
    messages: NDArray[np.bytes_] = np.frombuffer(content, dtype=f"S{size}")
    messages.sort()  # texts of one length compare as their bytes
    is_new = np.ones(len(messages), dtype=np.bool_)
    is_new[1:] = messages[1:] != messages[:-1]
    count = 0
    for start in range(0, len(messages), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        new = messages[part][is_new[part]]
        messages[count : count + len(new)] = new  # never beyond what was read
        count += len(new)
    return memoryview(content)[: count * size]
