"""Runs the life of a release: reserve, spend, draw, publish.

request -> reserve -> (commit) -> spend -> task -> read masses -> draw -> publish
Spend and publish come at public moments (`heatmaps.releases.clock`); what was drawn waits in between
(`heatmaps.releases.draws`).
Questions and their costs are in `heatmaps.releases.request` and `quote`, what was published in
`heatmaps.releases.results`, states and balances in `heatmaps.ledger.transitions`.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.utils import timezone

from heatmaps import queue
from heatmaps.budget import alerts
from heatmaps.ledger import transitions, version_commitments
from heatmaps.ledger.errors import IdempotencyConflict, Overtaken, SourceChanged, TooLateToCancel
from heatmaps.models import (
    Dataset,
    DataVersion,
    Drawing,
    DrawingState,
    Release,
    ReleaseState,
    RequestKey,
)
from heatmaps.origins import COLUMNS, ORIGINS
from heatmaps.people.permissions import Act, Person, require
from heatmaps.record import elections, hold
from heatmaps.record.hold import OnHold
from heatmaps.regions import region_of, text_of
from heatmaps.releases import draws, engine, source_readings
from heatmaps.releases.names import UNNAMED, Label
from heatmaps.releases.question import data_slice_of, latest_version, same_release
from heatmaps.releases.quote import ChargeLine, NoDataVersion, Quote, quote
from heatmaps.releases.request import Plan, ReleaseRequest
from heatmaps.releases.results import content_of_result, facts_of_result, heatmap_of, result_of
from mechanisms.check import ParameterError
from mechanisms.randomness import SystemSource
from mechanisms.results.serialization import Result as Released

__all__ = [
    "ChargeLine",
    "NoDataVersion",
    "Quote",
    "ReleaseRequest",
    "cancel",
    "content_of_result",
    "facts_of_result",
    "heatmap_of",
    "is_as_promised",
    "may_be_cancelled",
    "quote",
    "recover",
    "request_release",
    "result_of",
    "run",
    "send",
    "sweep",
]

LONGEST_KEY: Final = 120  # characters of an Idempotency-Key
RESENT_AT_ONCE: Final = 100  # reserved releases that one sweep sends to the workers again, the oldest first
_ORIGIN_COLUMNS: Final = tuple(f"dataset__{column}" for column in COLUMNS)
_RELATED: Final = ("dataset__collection", "version", "round")  # read once, with what is drawn
_log = structlog.stdlib.get_logger(__name__)


def request_release(
    person: Person,
    dataset: Dataset,
    request: ReleaseRequest,
    *,
    idempotency_key: str | None = None,
    label: Label = UNNAMED,
) -> Release:
    """Reserve a new release and queue it, or give the published one that answers the same question.

    label: of a new release; an answer given again keeps its own.
    Errors: as `permissions.require`; `ParameterError`; NoDataVersion; BudgetExceeded; AllowanceExceeded;
    UnboundedCharge; IdempotencyConflict for a key that was used for another request; of a lake SourceChanged,
    and `SourcesFileError` where the administrator's file does not name what the dataset reads.
    """
    requester = require(person, dataset, Act.RELEASE)
    _check_key(idempotency_key)
    key = _Key(text=idempotency_key, body_sha256=_body_sha256(dataset, request))
    earlier = _answered(requester, idempotency_key)
    if earlier is not None and earlier.body_sha256 == key.body_sha256:
        return earlier.release  # whatever has become of what it names
    while True:
        planned = Plan.of(dataset, request)
        try:
            return _answer(requester, dataset, planned, key, label)
        except Overtaken:
            pass  # a new version or a published answer meanwhile: look again
        except IntegrityError:
            # The same key at the same moment, and the other request was first.
            if _answered(requester, idempotency_key) is None:
                raise


def run(release_id: UUID) -> None:
    """Draw a spent release. Called again, for whatever reason, it does nothing.

    The charge stays, whatever happens; that this worker draws is committed before any data are read.
    """
    release = Release.objects.select_related(*_RELATED).filter(pk=release_id).first()
    if release is None:
        _log.info("release.not_waiting", release=release_id)
        return
    release.dataset.origin.run(release)


def run_elected(release: Release) -> None:
    """Draws as `run` does, once this worker is elected to."""
    origin = release.dataset.origin
    if not origin.is_ready(release) or not draws.claim(release):
        _log.info("release.not_waiting", release=release.pk)
        return
    cause = _cause(release, lambda: _draw(release))
    if cause is not None and origin.may_be_drawn_again and not origin.is_final(cause):
        # Nothing is drawn: whatever is wrong with this machine, the sweep has it read again.
        _log.error("round.not_read", release=release.pk, cause=cause)
        draws.begin_again(release.pk)
    elif cause is not None:
        # The name of the error's class only: its message and its traceback may hold data.
        _log.error("release.no_result", release=release.pk, cause=cause)
        draws.give_up(release.pk)
    origin.after_draw()


def send(release: Release) -> None:
    """Have a spent release drawn by a worker."""
    queue.send(release.dataset.origin.task, str(release.pk))


def is_as_promised(release: Release) -> bool:
    """Whether today's program keeps the promise that a release is charged for."""
    return release.dataset.origin.is_promise_kept(release)


def cancel(person: Person, release: Release) -> None:
    """Give a queued release of one's own up, and its charge back.

    Errors: as `permissions.require`, PermissionDenied for somebody else's, TooLateToCancel.
    """
    requester = require(person, release.dataset, Act.RELEASE)
    if release.requested_by_id != requester.pk:
        raise PermissionDenied("a release is cancelled by the person who asked for it")
    if not transitions.cancel(release.pk, actor=requester):
        raise TooLateToCancel


def may_be_cancelled(release: Release) -> bool:
    """Before it begins, as it says, unless it waits for an operator; a round is cancelled where it was
    planned."""
    if not release.dataset.origin.is_asked:
        return False
    is_ahead = release.state == ReleaseState.RESERVED and release.starts_at > timezone.now()
    return is_ahead and not hold.keeps_back(release)


def sweep() -> None:
    """End what no worker will end, and send again what no worker has. Safe to run beside anything.

    First the database is compared with the record: on hold nothing is sent and nothing ends.
    """
    try:
        elections.look()
    except OnHold:
        return
    over = Drawing.objects.filter(state=DrawingState.RUNNING, lease_until__lt=timezone.now())
    columns = [f"release__{column}" for column in _ORIGIN_COLUMNS]
    for drawing in over.select_related("release__dataset").only(*columns):
        draws.end(drawing.release, over_at=timezone.now())
    undrawn = Release.objects.filter(state=ReleaseState.SPENT, drawing=None).order_by("starts_at")
    for origin in ORIGINS:
        if origin.unread is not None:
            undrawn = undrawn.exclude(origin.of("dataset") & origin.unread)
    undrawn = undrawn.exclude(source_reading__lease_until__gte=timezone.now())
    # What else a row says may be unreadable, and holds up no other.
    for release in undrawn.select_related("dataset").only(*_ORIGIN_COLUMNS)[:RESENT_AT_ONCE]:
        send(release)
    for origin in ORIGINS:
        for sweep_origin in origin.sweeps:
            sweep_origin()


def recover() -> None:
    """At the start of the only process that draws: no other can be at work on a spent release."""
    try:
        elections.look()
    except OnHold:
        return
    for drawing in Drawing.objects.filter(state=DrawingState.RUNNING).select_related("release__dataset"):
        draws.end(drawing.release)
    source_readings.forget_leases()
    sweep()


def _check_key(key: str | None) -> None:
    if key is not None and not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise ParameterError("Idempotency-Key", key, f"1 to {LONGEST_KEY} printable ASCII characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """An `Idempotency-Key`, and the body that it came with."""

    text: str | None
    body_sha256: str


def _body_sha256(dataset: Dataset, request: ReleaseRequest) -> str:
    """Of the question as it was sent: another spelling has another one."""
    body = {"dataset": dataset.pk, **asdict(request)}
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()


def _answer(requester: User, dataset: Dataset, planned: Plan, key: _Key, label: Label) -> Release:
    """Looked up without the ledger's lock; the reservation is refused when any of it is no longer so.

    Errors: Overtaken, IntegrityError and those of `request_release`.
    """
    earlier = _answered(requester, key.text)
    if earlier is not None:
        if not _asks_the_same(earlier.release, dataset, planned):
            raise IdempotencyConflict
        return earlier.release
    version = latest_version(dataset)
    if version is None:
        raise NoDataVersion
    if planned.guide is not None and planned.guide.version_id not in (None, version.pk):
        raise Overtaken
    release = same_release(dataset, planned.question(version))
    if release is None:
        # A published answer is given whatever became of the files.
        if not dataset.origin.may_be_read(version):
            raise SourceChanged
        new = _new_release(requester, version, planned, label)
        elections.ensure_begun()
        with transitions.locked(dataset.pk):
            # Planning takes seconds, in which the role or the account may have ended.
            require(User.objects.get(pk=requester.pk), dataset, Act.RELEASE)
            release = transitions.reserve(
                new,
                planned.charges,
                actor=requester,
                key=key.text,
                body_sha256=key.body_sha256,
                unless_answered=True,
            )
        alerts.log_crossings(dataset, planned.charges)
    elif key.text is not None:
        RequestKey.objects.create(
            requested_by=requester, key=key.text, body_sha256=key.body_sha256, release=release
        )
    return release


def _answered(requester: User, key: str | None) -> RequestKey | None:
    if key is None:
        return None
    return RequestKey.objects.filter(requested_by=requester, key=key).select_related("release").first()


def _asks_the_same(release: Release, dataset: Dataset, planned: Plan) -> bool:
    """Whether the body is the same; the data version may have moved on since."""
    costs, stored_costs = (planned.epsilon, planned.delta), (release.epsilon, release.delta)
    asked = (dataset.pk, planned.mechanism.name, costs, planned.draw.resolution)
    stored = (release.dataset_id, release.mechanism, stored_costs, release.resolution)
    same_slice = data_slice_of(release) == planned.data_slice
    guide = None if planned.guide is None else planned.guide.id
    same_guide = guide == (release.guide_release_id or release.guide_file_id)
    return asked == stored and same_slice and same_guide and release.parameters == planned.parameters


def _new_release(requester: User, version: DataVersion, planned: Plan, label: Label) -> Release:
    expected_error = planned.expected_error(version.dataset)
    guide = planned.guide
    return Release(
        dataset=version.dataset,
        version=version,
        requested_by=requester,
        mechanism=planned.mechanism.name,
        epsilon=planned.epsilon,
        delta=planned.delta,
        resolution=planned.draw.resolution,
        parameters=dict(planned.parameters),
        mechanism_version=planned.draw.entry.version,
        guide_release=None if guide is None else guide.release,
        guide_file=None if guide is None else guide.file,
        guide_sha256=planned.guide_sha256,
        since=planned.data_slice.since,
        until=planned.data_slice.until,
        rectangle=planned.data_slice.edges,
        covered=text_of(planned.data_slice.region(region_of(version.dataset))),
        guarantee=planned.guarantee.to_json(),
        expected_error=None if expected_error is None else asdict(expected_error),
        question=planned.question(version),
        expires_at=timezone.now() + timedelta(seconds=settings.RESERVATION_SECONDS),
        name=label.name,
        note=label.note,
    )


def _cause(release: Release, drawn: Callable[[], Released]) -> type[Exception] | None:
    """The class of what went wrong, if anything did: the charge stays, and nothing is tried again."""
    try:
        with draws.kept(release.pk):
            _store(release, drawn())
    except draws.GivenUp:
        _log.warning("release.given_up_before_drawn", release=release.pk)
    except Exception as error:  # noqa: BLE001 - the data, the machine or the database: all the same here
        return type(error)
    return None


def run_in_lake(release: Release) -> None:
    """As `run`: reads first, as often as it takes, and is elected to draw only then."""
    tag = source_readings.begin(release.pk)
    if tag is None:
        _log.info("release.not_waiting", release=release.pk)
        return
    try:
        with source_readings.kept(release.pk, tag):
            version_commitments.check(release.dataset, release.version)
            draw = engine.promised_draw_of(release)
            read = draw.read(release.dataset, release.version, data_slice_of(release))
    except source_readings.FINAL as error:
        _log.error("release.no_result", release=release.pk, cause=type(error))
        source_readings.give_up(release.pk, tag)
        return
    except Exception as error:  # noqa: BLE001 - Spark, the network, the machine or the database
        _log.error("source.not_read", release=release.pk, cause=type(error))
        was_asked = not isinstance(error, source_readings.NOT_ASKED)
        source_readings.let_go(release.pk, tag, was_asked=was_asked)
        return
    if not source_readings.claim(release, tag):
        _log.warning("release.given_up_before_drawn", release=release.pk)
        return
    cause = _cause(release, lambda: draw.release(read, SystemSource()))
    if cause is not None:
        _log.error("release.no_result", release=release.pk, cause=cause)
        draws.give_up(release.pk)


def _draw(release: Release) -> Released:
    """Errors: `BrokenPromise`, `VersionChanged`."""
    version_commitments.check(release.dataset, release.version)
    released: Released = release.dataset.origin.result(release)
    return released


def _store(release: Release, drawn: Released) -> None:
    content = drawn.to_bytes()
    draws.finish(release.pk, content, hashlib.sha256(content).hexdigest())
