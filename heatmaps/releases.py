"""The life of a release.

request -> reserve -> (commit) -> task -> spend -> read masses -> release -> publish
Questions and their costs are in `heatmaps.quotes`, states and balances in `heatmaps.ledger.transitions`.
"""

import hashlib
import logging
from dataclasses import asdict
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.utils import timezone

from heatmaps import masses, queue, quotes
from heatmaps.access import Act, Person, require
from heatmaps.ingest import uploads
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IdempotencyConflict, IllegalTransition, TooLateToCancel
from heatmaps.models import Dataset, DataVersion, Release, ReleaseState, RequestKey, Result
from heatmaps.quotes import ChargeLine, NoDataVersion, Plan, Quote, ReleaseRequest, quote
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee
from mechanisms.interface import Heatmap, HeatmapMechanism, SystemSource

__all__ = [
    "ChargeLine",
    "NoDataVersion",
    "Quote",
    "ReleaseRequest",
    "cancel",
    "heatmap_of",
    "quote",
    "recover",
    "request_release",
    "run",
    "sweep",
]

LONGEST_KEY: Final = 120  # characters of an Idempotency-Key
RESENT_AT_ONCE: Final = 100  # reserved releases that one sweep sends to the workers again, the oldest first

_log = logging.getLogger(__name__)


def request_release(
    person: Person, dataset: Dataset, request: ReleaseRequest, *, idempotency_key: str | None = None
) -> Release:
    """Reserve a new release and queue it, or give the published one that answers the same question.

    Errors: as `access.require`; `ParameterError`; NoDataVersion; BudgetExceeded; UnboundedCharge;
    IdempotencyConflict for a key that was used for another request.
    """
    requester = _requester(person, dataset)
    _check_key(idempotency_key)
    planned = quotes.plan(dataset, request)
    try:
        with transitions.locked(dataset.pk):
            return _answer(requester, dataset, planned, idempotency_key)
    except IntegrityError:
        # The same key at the same moment for another dataset: its ledger has another lock.
        if _answered(requester, idempotency_key) is None:
            raise
        raise IdempotencyConflict from None


def run(release_id: UUID) -> None:
    """Draw a reserved release and publish it. Called again, for whatever reason, it does nothing.

    The spend is committed before any data are read; from then on the charge stays, whatever happens.
    """
    release = Release.objects.select_related("dataset", "version").filter(pk=release_id).first()
    if release is None or release.state != ReleaseState.RESERVED:
        _log.info("release %s is not waiting for a draw", release_id)
        return
    mechanism = _mechanism_as_promised(release)
    if mechanism is None:
        transitions.cancel(release_id, actor=None)
    elif transitions.spend(release_id):
        _finish(release, mechanism)


def cancel(person: Person, release: Release) -> None:
    """Give a queued release of one's own up, and its charge back.

    Errors: as `access.require`, PermissionDenied for somebody else's, TooLateToCancel.
    """
    requester = _requester(person, release.dataset)
    if release.requested_by_id != requester.pk:
        raise PermissionDenied("a release is cancelled by the person who asked for it")
    if not transitions.cancel(release.pk, actor=requester):
        raise TooLateToCancel


def heatmap_of(release: Release) -> Heatmap:
    """The published map. Errors: Result.DoesNotExist without one, ValueError if it was changed."""
    result = Result.objects.get(pk=release.pk)
    content = bytes(result.content)
    if hashlib.sha256(content).hexdigest() != result.sha256:
        raise ValueError(f"the stored map of release {release.pk} is not the one that was published")
    return Heatmap.from_bytes(content)


def sweep() -> None:
    """End what no worker will end, and send again what no worker has. Safe to run beside anything."""
    now = timezone.now()
    for release_id in _ids(state=ReleaseState.SPENT, lease_until__lt=now):
        _fail(release_id)
    for release_id in _ids(state=ReleaseState.RESERVED, expires_at__lt=now):
        transitions.cancel(release_id, actor=None)
    for release_id in _ids(state=ReleaseState.RESERVED)[:RESENT_AT_ONCE]:
        queue.send(queue.RELEASE, str(release_id))
    uploads.sweep()


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
    """The caller holds the ledger's lock: version, same question and reservation are of one moment."""
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
            _new_release(requester, version, planned), planned.charges, actor=requester
        )
        queue.send(queue.RELEASE, str(release.pk))
    if key is not None:
        RequestKey.objects.create(requested_by=requester, key=key, release=release)
    return release


def _answered(requester: User, key: str | None) -> Release | None:
    if key is None:
        return None
    found = RequestKey.objects.filter(requested_by=requester, key=key).select_related("release").first()
    return None if found is None else found.release


def _asks_the_same(release: Release, dataset: Dataset, planned: Plan) -> bool:
    """Whether the body is the same; the data version may have moved on since."""
    asked = (dataset.pk, planned.mechanism.name, planned.epsilon, planned.mechanism.resolution)
    stored = (release.dataset_id, release.mechanism, release.epsilon, release.resolution)
    return asked == stored and release.parameters == planned.parameters


def _new_release(requester: User, version: DataVersion, planned: Plan) -> Release:
    expected_error = planned.expected_error(version.dataset)
    return Release(
        dataset=version.dataset,
        version=version,
        requested_by=requester,
        mechanism=planned.mechanism.name,
        epsilon=planned.epsilon,
        resolution=planned.mechanism.resolution,
        parameters=dict(planned.parameters),
        guarantee=planned.guarantee.to_json(),
        expected_error=None if expected_error is None else asdict(expected_error),
        question=planned.question(version),
        expires_at=timezone.now() + timedelta(seconds=settings.RESERVATION_SECONDS),
    )


def _mechanism_as_promised(release: Release) -> HeatmapMechanism | None:
    """None when today's program would not keep the promise that was charged for."""
    try:
        mechanism = quotes.mechanism_of(release)
    except ParameterError:
        mechanism = None
    if mechanism is None or mechanism.guarantee != Guarantee.from_json(release.guarantee):
        _log.error("release %s was promised by another version of the program: cancelled", release.pk)
        return None
    return mechanism


def _finish(release: Release, mechanism: HeatmapMechanism) -> None:
    cause = _publish(release, mechanism)
    if cause is not None:
        # The name of the error's class only: its message and its traceback may hold data.
        _log.error("release %s has no result: %s", release.pk, cause.__name__)
        _fail(release.pk)


def _publish(release: Release, mechanism: HeatmapMechanism) -> type[Exception] | None:
    """The class of what went wrong, if anything did: the charge stays, and nothing is tried again."""
    try:
        content = _draw(release, mechanism).to_bytes()
        transitions.publish(release.pk, content, hashlib.sha256(content).hexdigest())
    except IllegalTransition:
        _log.warning("release %s was given up before it was published; the draw is thrown away", release.pk)
    except Exception as error:  # noqa: BLE001 - the data, the machine or the database: all the same here
        return type(error)
    return None


def _draw(release: Release, mechanism: HeatmapMechanism) -> Heatmap:
    """Outside of any transaction: reading and drawing may take long."""
    level = mechanism.resolution.bit_length() - 1
    read = masses.read(release.dataset, release.version, level=level, unit=mechanism.unit)
    return mechanism.release(read, SystemSource())


def _fail(release_id: UUID) -> None:
    try:
        transitions.fail(release_id)
    except IllegalTransition:
        _log.info("release %s was finished by somebody else", release_id)


def _ids(**conditions: object) -> list[UUID]:
    rows = Release.objects.filter(**conditions).order_by("requested_at")
    return list(rows.values_list("pk", flat=True))
