"""The life of a release.

request -> reserve -> (commit) -> task -> spend -> read masses -> release -> publish
Masses of many check-ins are read by several workers, a share of the persons each (`heatmaps.shards`).
Questions and their costs are in `heatmaps.quotes`, states and balances in `heatmaps.ledger.transitions`.
"""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.utils import timezone

from heatmaps import alerts, leases, queue, quotes, shards
from heatmaps.access import Act, Person, require
from heatmaps.ingest import uploads
from heatmaps.kinds import Draw
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IdempotencyConflict, IllegalTransition, Overtaken, TooLateToCancel
from heatmaps.masses import Pieces, packing
from heatmaps.models import Dataset, DataVersion, Release, ReleaseState, RequestKey, Result
from heatmaps.quotes import ChargeLine, NoDataVersion, Plan, Quote, ReleaseRequest, quote
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee
from mechanisms.interface import Heatmap, Mechanism, SystemSource
from mechanisms.interface import Result as Released
from mechanisms.results import result_from_bytes

__all__ = [
    "ChargeLine",
    "NoDataVersion",
    "Quote",
    "ReleaseRequest",
    "cancel",
    "heatmap_of",
    "quote",
    "read_shard",
    "recover",
    "request_release",
    "result_of",
    "run",
    "sweep",
]

LONGEST_KEY: Final = 120  # characters of an Idempotency-Key
RESENT_AT_ONCE: Final = 100  # reserved releases that one sweep sends to the workers again, the oldest first

_log = structlog.stdlib.get_logger(__name__)


def request_release(
    person: Person, dataset: Dataset, request: ReleaseRequest, *, idempotency_key: str | None = None
) -> Release:
    """Reserve a new release and queue it, or give the published one that answers the same question.

    Errors: as `access.require`; `ParameterError`; NoDataVersion; BudgetExceeded; AllowanceExceeded;
    UnboundedCharge; IdempotencyConflict for a key that was used for another request.
    """
    requester = _requester(person, dataset)
    _check_key(idempotency_key)
    planned = quotes.plan(dataset, request)
    while True:
        try:
            return _answer(requester, dataset, planned, idempotency_key)
        except Overtaken:
            pass  # a new version or a published answer meanwhile: look again
        except IntegrityError:
            # The same key at the same moment, and the other request was first.
            if _answered(requester, idempotency_key) is None:
                raise


def run(release_id: UUID) -> None:
    """Draw a reserved release and publish it. Called again, for whatever reason, it does nothing.

    The spend is committed before any data are read; from then on the charge stays, whatever happens.
    """
    release = Release.objects.select_related("dataset", "version").filter(pk=release_id).first()
    if release is None or release.state != ReleaseState.RESERVED:
        _log.info("release.not_waiting", release=release_id)
        return
    draw = _draw_as_promised(release)
    if draw is None:
        transitions.cancel(release_id, actor=None)
    elif transitions.spend(release_id):
        _finish(release, partial(_draw_or_spread, release, draw))


def read_shard(shard_id: UUID) -> None:
    """Read one share of a spent release; who reads the last one draws and publishes. May be called again."""
    claim = shards.claim(shard_id)
    if claim is None:
        return  # not logged: lines about shards would say how much data there is
    release = Release.objects.select_related("dataset", "version").get(pk=claim.release_id)
    outcome = _read(release, claim)
    if isinstance(outcome, type):
        _try_again_or_fail(release, claim, outcome)
    elif outcome is not None:
        _finish(release, partial(_draw_parts, release, claim, outcome))
        shards.clear(release.pk)


def cancel(person: Person, release: Release) -> None:
    """Give a queued release of one's own up, and its charge back.

    Errors: as `access.require`, PermissionDenied for somebody else's, TooLateToCancel.
    """
    requester = _requester(person, release.dataset)
    if release.requested_by_id != requester.pk:
        raise PermissionDenied("a release is cancelled by the person who asked for it")
    if not transitions.cancel(release.pk, actor=requester):
        raise TooLateToCancel


def result_of(release: Release) -> Released:
    """The published map or point. Errors: Result.DoesNotExist without one, ValueError if it was changed."""
    result = Result.objects.get(pk=release.pk)
    content = bytes(result.content)
    if hashlib.sha256(content).hexdigest() != result.sha256:
        raise ValueError(f"the stored result of release {release.pk} is not the one that was published")
    return result_from_bytes(content)


def heatmap_of(release: Release) -> Heatmap:
    """The published map. Errors: as `result_of`; ValueError where something else than a map was published."""
    released = result_of(release)
    if not isinstance(released, Heatmap):
        raise ValueError(f"release {release.pk} is no map")
    return released


def sweep() -> None:
    """End what no worker will end, and send again what no worker has. Safe to run beside anything."""
    now = timezone.now()
    for release in Release.objects.filter(state=ReleaseState.SPENT, lease_until__lt=now):
        if shards.is_going_on(release):
            leases.renew(release.pk)
        else:
            leases.fail_if_over(release, now)
    shards.sweep()
    for release_id in _ids(state=ReleaseState.RESERVED, expires_at__lt=now):
        transitions.cancel(release_id, actor=None)
    for release_id in _ids(state=ReleaseState.RESERVED)[:RESENT_AT_ONCE]:
        queue.send(queue.RELEASE, str(release_id))
    uploads.sweep()
    packing.sweep()


def recover() -> None:
    """At the start of the only process that draws: no other can be at work on a spent release."""
    for release_id in _ids(state=ReleaseState.SPENT):
        _fail(release_id)
    sweep()


def _requester(person: Person, dataset: Dataset) -> User:
    require(person, dataset, Act.RELEASE)
    if isinstance(person, AnonymousUser):  # `require` let nobody unknown pass; types do not know that
        raise PermissionDenied("sign in to ask for a release")
    return person


def _check_key(key: str | None) -> None:
    if key is not None and not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise ParameterError("Idempotency-Key", key, f"1 to {LONGEST_KEY} printable ASCII characters")


def _answer(requester: User, dataset: Dataset, planned: Plan, key: str | None) -> Release:
    """Looked up without the ledger's lock; the reservation is refused when any of it is no longer so.

    Errors: Overtaken, IntegrityError and those of `request_release`.
    """
    earlier = _answered(requester, key)
    if earlier is not None:
        if not _asks_the_same(earlier, dataset, planned):
            raise IdempotencyConflict
        return earlier
    version = quotes.latest_version(dataset)
    if version is None:
        raise NoDataVersion
    release = quotes.same_release(dataset, planned.question(version))
    if release is None:
        release = transitions.reserve(
            _new_release(requester, version, planned),
            planned.charges,
            actor=requester,
            key=key,
            unless_answered=True,
        )
        queue.send(queue.RELEASE, str(release.pk))
        alerts.log_crossings(dataset, planned.charges)
    elif key is not None:
        RequestKey.objects.create(requested_by=requester, key=key, release=release)
    return release


def _answered(requester: User, key: str | None) -> Release | None:
    if key is None:
        return None
    found = RequestKey.objects.filter(requested_by=requester, key=key).select_related("release").first()
    return None if found is None else found.release


def _asks_the_same(release: Release, dataset: Dataset, planned: Plan) -> bool:
    """Whether the body is the same; the data version may have moved on since."""
    costs, stored_costs = (planned.epsilon, planned.exact_delta), (release.epsilon, release.delta)
    asked = (dataset.pk, planned.mechanism.name, costs, planned.draw.resolution)
    stored = (release.dataset_id, release.mechanism, stored_costs, release.resolution)
    same_part = quotes.asked_of(release) == planned.asked
    return asked == stored and same_part and release.parameters == planned.parameters


def _new_release(requester: User, version: DataVersion, planned: Plan) -> Release:
    expected_error = planned.expected_error(version.dataset)
    return Release(
        dataset=version.dataset,
        version=version,
        requested_by=requester,
        mechanism=planned.mechanism.name,
        epsilon=planned.epsilon,
        delta=planned.exact_delta,
        resolution=planned.draw.resolution,
        parameters=dict(planned.parameters),
        since=planned.asked.since,
        until=planned.asked.until,
        within=planned.asked.within,
        guarantee=planned.guarantee.to_json(),
        expected_error=None if expected_error is None else asdict(expected_error),
        question=planned.question(version),
        expires_at=timezone.now() + timedelta(seconds=settings.RESERVATION_SECONDS),
    )


def _draw_as_promised(release: Release) -> Draw | None:
    """None when today's program would not keep the promise that was charged for."""
    try:
        draw = quotes.draw_of(release)
    except ParameterError:
        draw = None
    if draw is None or _promise(release, draw.mechanism) != Guarantee.from_json(release.guarantee):
        _log.error("release.promised_by_another_version", release=release.pk)
        return None
    return draw


def _promise(release: Release, mechanism: Mechanism) -> Guarantee:
    return quotes.promise(release.dataset, mechanism, quotes.asked_of(release))


def _finish(release: Release, work: Callable[[], None]) -> None:
    """Do what ends a spent release; failed otherwise: the charge stays, and nothing is tried again."""
    cause = _cause(release, work)
    if cause is not None:
        # The name of the error's class only: its message and its traceback may hold data.
        _log.error("release.no_result", release=release.pk, cause=cause)
        _fail(release.pk)


def _cause(release: Release, work: Callable[[], None]) -> type[Exception] | None:
    """The class of what went wrong, if anything did."""
    try:
        with leases.kept(release.pk):
            work()
    except IllegalTransition:
        _log.warning("release.given_up_before_published", release=release.pk)
    except Exception as error:  # noqa: BLE001 - the data, the machine or the database: all the same here
        return type(error)
    return None


def _draw_or_spread(release: Release, draw: Draw) -> None:
    count = shards.wanted(release)
    if count > 1:
        shards.spread(release.pk, count)
    else:
        _publish(release, _draw(release, draw))


def _draw_parts(release: Release, claim: shards.Claim, own: Pieces) -> None:
    draw = _still_promised(release)
    with closing(shards.parts_besides(claim)) as others:
        drawn = _draw(release, draw, chain([own], others))
    _publish(release, drawn)


def _draw(release: Release, draw: Draw, parts: Iterable[Pieces] | None = None) -> Released:
    """From the data, or from the partial sums of every share of it."""
    if parts is not None:
        return draw.draw_of_parts(parts, SystemSource())
    return draw.draw(release.dataset, release.version, quotes.asked_of(release), SystemSource())


def _publish(release: Release, drawn: Released) -> None:
    content = drawn.to_bytes()
    transitions.publish(release.pk, content, hashlib.sha256(content).hexdigest())


def _read(release: Release, claim: shards.Claim) -> Pieces | type[Exception] | None:
    """Partial sums where this worker was elected to draw; the class of what went wrong, if anything did."""
    try:
        with claim.kept():
            draw, asked = _still_promised(release), quotes.asked_of(release)
            content = draw.part(release.dataset, release.version, asked, claim.share)
            return content if claim.finish(content) else None
    except Exception as error:  # noqa: BLE001 - as in `_cause`
        return type(error)


def _try_again_or_fail(release: Release, claim: shards.Claim, cause: type[Exception]) -> None:
    _log.error("release.not_read", release=release.pk, cause=cause)
    claim.give_back()
    if claim.is_last:
        _fail(release.pk)
        shards.clear(release.pk)


def _still_promised(release: Release) -> Draw:
    """Errors: RuntimeError when this worker runs another version of the program than the one that spent."""
    draw = _draw_as_promised(release)
    if draw is None:
        raise RuntimeError("the promise that was charged for cannot be kept")
    return draw


def _fail(release_id: UUID) -> None:
    try:
        transitions.fail(release_id)
    except IllegalTransition:
        _log.info("release.finished_by_another", release=release_id)


def _ids(**conditions: object) -> list[UUID]:
    rows = Release.objects.filter(**conditions).order_by("requested_at")
    return list(rows.values_list("pk", flat=True))
