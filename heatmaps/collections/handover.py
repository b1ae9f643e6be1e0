"""Takes from the shuffler its part of a round, and later the messages of all."""

import contextlib
import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

import numpy as np
import structlog
from django.conf import settings
from django.utils import timezone

from heatmaps import spool
from heatmaps.broker import queue
from heatmaps.children.turns import turn
from heatmaps.collections import facts, round_draws, round_keys, rounds
from heatmaps.collections.errors import BatchDiffers, RoundIsFixed, RoundNotOpen
from heatmaps.ledger import facts as ledger_facts
from heatmaps.ledger import transitions
from heatmaps.ledger.transitions import moves
from heatmaps.models import Drawing, DrawingState, Release, ReleaseState, Round
from mechanisms.check import ParameterError

_DIGEST_LETTERS: Final = 64
_ENDED: Final = (DrawingState.DRAWN, DrawingState.FAILED, DrawingState.REFUSED)
_IN_TIME: Final = timedelta(seconds=1)  # before the opening: the event is written by then
_OF_SHUFFLER: Final = ("shuffler_key", "invitations", "invitations_sha256", "facts", "facts_sha256")
_MESSAGES_A_TIME: Final = 2**16
_PART: Final = ".part"  # of a file's name while it is received
_PART_SECONDS: Final = 3600  # since the last bytes came
# A round that is open is cancelled by nobody; it may be spent whenever the clock comes back.
_NEVER: Final = timedelta(days=365 * 50)

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShufflerPart:
    """Holds what the shuffler adds to a round's facts. Errors: `ParameterError`."""

    key: str  # base64url
    invitations: int
    invitations_sha256: str

    def __post_init__(self) -> None:
        if round_keys.key_bytes(self.key) is None:
            raise ParameterError(
                "key", "another text", "32 bytes of an X25519 key in base64url, 43 characters"
            )
        digest = self.invitations_sha256
        if len(digest) != _DIGEST_LETTERS or set(digest) - set("0123456789abcdef"):
            raise ParameterError("invitations_sha256", "another text", "64 hexadecimal digits")


def fix(round_id: UUID, part: ShufflerPart) -> str:
    """Fixes what a round is, for good, in the ledger, and returns the text that both roles serve.

    The same part again gives the same text. Errors: RoundIsFixed; RoundNotOpen; `ParameterError`.
    """
    row = _round(round_id)
    if row.facts:
        return _fixed_facts(row, part)
    _prepare(row, part)  # may take seconds: before the lock
    with transitions.locked(row.release.dataset_id):
        stored, now = _round(round_id), timezone.now()
        if stored.facts:
            return _fixed_facts(stored, part)
        if stored.release.state != ReleaseState.RESERVED or now >= row.opens_at - _IN_TIME:
            raise RoundNotOpen("this round was cancelled, or its opening moment has passed")
        row.save(update_fields=_OF_SHUFFLER)
        Release.objects.filter(pk=round_id).update(expires_at=row.closes_at + _NEVER)
        transitions.record(
            row.release.dataset,
            moves.ROUND,
            actor=None,
            before={},
            after={"round": str(round_id), **ledger_facts.round_facts(row)},
            at=now,
        )
    _log.info("rounds.fixed", round=round_id)
    return row.facts


def take(round_id: UUID, *, sha256: str, reports: int, blocks: Iterable[bytes]) -> bool:
    """Keeps the messages of all devices; False where the same batch was here before.

    blocks: of the sealed messages, joined and ascending. Errors: RoundNotOpen before the closing moment;
    BatchDiffers; `ParameterError` for a batch that is not what it says it is.
    """
    row = _round(round_id)
    if row.reports is not None:
        return _same(row, sha256, reports)
    _check_moment(row)
    sealed = row.message_bytes + round_draws.SEALED_BYTES
    if not 0 <= reports <= (row.invitations or 0):
        raise ParameterError("Hazemap-Reports", reports, f"from 0 to {row.invitations}, the invitations")
    path, size = _received(round_id, blocks, most=reports * row.messages * sealed, sha256=sha256)
    try:
        if size % sealed:
            raise ParameterError("batch", f"{size} bytes", f"a multiple of {sealed}, a sealed message")
        if not _ascends(path, sealed):
            raise ParameterError("batch", "another order", "messages in ascending order, each once")
        with transitions.locked(row.release.dataset_id):
            now = _round(round_id)
            if now.reports is not None:
                return _same(now, sha256, reports)
            _check_moment(now)
            path.replace(batch_path(round_id))
            spool.sync_folder(batch_folder())
            Round.objects.filter(pk=round_id).update(
                batch_sha256=sha256, reports=reports, received_at=timezone.now()
            )
            queue.send(queue.RELEASE, str(round_id))
    except FileNotFoundError:  # the round ended meanwhile by the same batch, and forgot this one
        ended = _round(round_id)
        if ended.reports is None:
            raise RoundNotOpen("this round has an end already") from None
        return _same(ended, sha256, reports)
    finally:
        path.unlink(missing_ok=True)
    _log.info("rounds.handed_over", round=round_id)
    return True


def batch_folder() -> Path:
    folder = Path(settings.UPLOAD_DIR) / "rounds"
    if os.access(settings.UPLOAD_DIR, os.W_OK):  # elsewhere the web server makes it
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def batch_path(round_id: UUID) -> Path:
    return batch_folder() / f"{round_id}.batch"


def forget(round_id: UUID) -> None:
    """Deletes messages and key of a round that was read, or never will be; again: nothing.

    Messages that this process may not delete are sealed for a key that is gone; the web server deletes them.
    """
    _forget_messages(round_id)
    round_keys.destroy(round_id)


def forget_ended() -> None:
    """Forgets all rounds of which something is left on disk and whose result is drawn or has an end.

    A round whose row is missing was never planned: its maker is at work, or died.
    """
    _forget_parts()
    left = {*round_keys.rounds(), *_rounds_with_messages()}
    if not left:
        return
    ended = Release.objects.filter(pk__in=left).exclude(state__in=moves.QUEUED)
    drawings = Drawing.objects.filter(pk__in=left, state__in=_ENDED)
    for round_id in {*ended.values_list("pk", flat=True), *drawings.values_list("pk", flat=True)}:
        forget(round_id)


def forget_batches() -> None:
    """Deletes the messages of rounds whose release has an end; for the web server, where workers may not."""
    _forget_parts()
    ended = Release.objects.filter(pk__in=_rounds_with_messages()).exclude(state__in=moves.QUEUED)
    for round_id in ended.values_list("pk", flat=True):
        _forget_messages(round_id)


def _rounds_with_messages() -> set[UUID]:
    """Returns the rounds whose messages are on disk, a whole batch or a part of one."""
    rounds_on_disk = set()
    for path in batch_folder().glob("*"):
        with contextlib.suppress(ValueError):  # another name is somebody else's
            rounds_on_disk.add(UUID(path.name.partition(".")[0]))
    return rounds_on_disk


def _forget_messages(round_id: UUID) -> None:
    """Deletes a round's batch, and what processes that died had received of it."""
    for path in (batch_path(round_id), *batch_folder().glob(f"{round_id}.*{_PART}")):
        spool.take_away(path)


def _forget_parts() -> None:
    """Deletes what processes that died had received of rounds that still wait for all of it."""
    for path in batch_folder().glob(f"*{_PART}"):
        with contextlib.suppress(FileNotFoundError):  # another sweep was faster, or it is received
            if time.time() - path.stat().st_mtime > _PART_SECONDS:
                spool.take_away(path)


def _round(round_id: UUID) -> Round:
    rows = Round.objects.select_related("release__version", "release__dataset__collection")
    return rows.get(pk=round_id)


def _fixed_facts(row: Round, part: ShufflerPart) -> str:
    """Returns the text that was told before for the same part. Errors: RoundIsFixed."""
    earlier = ShufflerPart(
        key=row.shuffler_key,
        invitations=row.invitations or 0,
        invitations_sha256=row.invitations_sha256,
    )
    if earlier != part:
        raise RoundIsFixed
    return row.facts


def _prepare(row: Round, part: ShufflerPart) -> None:
    """Fills a round in memory, its facts included. Errors: `ParameterError`; RoundNotOpen; Busy."""
    with turn():
        draw = round_draws.draw_of(row)
    if not round_draws.keeps_promise(row.release, draw):
        raise RoundNotOpen("this round was charged by another version of the program; plan it again")
    _check(part, draw, row)
    row.shuffler_key, row.invitations = part.key, part.invitations
    row.invitations_sha256 = part.invitations_sha256
    row.facts = facts.text(row, draw)
    row.facts_sha256 = facts.digest(row.facts)


def _check_moment(row: Round) -> None:
    """Refuses a batch before the closing moment and after the end. Errors: RoundNotOpen."""
    now = timezone.now()
    if not row.facts or now < row.closes_at:
        raise RoundNotOpen("this round is not closed yet")
    if row.release.state not in moves.QUEUED or now >= rounds.last_moment(row):
        raise RoundNotOpen("this round has an end already")


def _check(part: ShufflerPart, draw: round_draws.RoundDraw, row: Round) -> None:
    if not draw.least_reports <= part.invitations <= draw.most_reports:
        allowed = f"from {draw.least_reports}, with fewer nothing is published, to {draw.most_reports}"
        raise ParameterError("invitations", part.invitations, allowed)
    if part.key == row.analyser_key:
        raise ParameterError("key", "the analyser's", "a key of the shuffler's own")


def _same(row: Round, sha256: str, reports: int) -> bool:
    if (row.batch_sha256, row.reports) != (sha256, reports):
        raise BatchDiffers
    return False


def _ascends(path: Path, sealed: int) -> bool:
    """Tells whether each message is above the one before: none comes twice, and their order tells nothing."""
    last = b""
    with path.open("rb") as file:
        while block := file.read(_MESSAGES_A_TIME * sealed):
            messages = np.frombuffer(block, f"S{sealed}")  # texts of one length compare as their bytes
            if block[:sealed] <= last or not (messages[1:] > messages[:-1]).all():
                return False
            last = block[-sealed:]
    return True


def _received(round_id: UUID, blocks: Iterable[bytes], *, most: int, sha256: str) -> tuple[Path, int]:
    """Writes a new file, and returns (path, bytes). Errors: `ParameterError`, and nothing is left."""
    path, digest, size = batch_folder() / f"{round_id}.{uuid4()}{_PART}", hashlib.sha256(), 0
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for block in blocks:
                size += len(block)
                if size > most:
                    raise ParameterError("batch", f"more than {most} bytes", f"at most {most}, all messages")
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != sha256:
            raise ParameterError("Hazemap-Batch", "another digest", "the SHA-256 of the batch")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, size
