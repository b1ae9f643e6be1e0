"""Verifies a ledger: recomputes the chain, then every balance and state from it."""

import hashlib
from dataclasses import dataclass

from django.db import DataError

from heatmaps.ledger import administrator_reads, facts, guides, version_commitments
from heatmaps.ledger.events import event_hash, genesis
from heatmaps.ledger.replay import Disagreement, Replay
from heatmaps.ledger.snapshots import snapshot
from heatmaps.ledger.transitions.moves import CLOSE, QUEUED
from heatmaps.ledger.version_commitments import VersionChanged
from heatmaps.models import (
    Account,
    Allowance,
    Charge,
    Dataset,
    DataVersion,
    Event,
    GuideFile,
    Ledger,
    Release,
    ReleaseState,
    Restoration,
    Result,
    Round,
)
from heatmaps.models.fraction_field import NotStored


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Says whether a ledger verifies: `problem` names the first bad row; `first_bad_sequence` the event it
    disagrees with, if it has one."""

    ok: bool
    events: int
    closed: bool = False  # for good: nothing of it counts as verified, and nothing follows
    first_bad_sequence: int | None = None
    problem: str = ""


def verify(dataset: Dataset) -> Report:
    """Checks one dataset's ledger as it was at one moment, while moves go on beside it.

    It finds anything edited, removed, inserted, reordered or swapped in events, accounts, charges,
    releases, results, guides and the dataset's own facts. It cannot find that everything was rewritten
    consistently by somebody who may write all of them: keep the last hash elsewhere for that.
    """
    replay = Replay(previous_hash=genesis(dataset.pk))
    try:
        with snapshot():
            ledger = Ledger.objects.get(pk=dataset.pk)
            if ledger.closed_sequence is not None:
                return _closed(ledger)
            for event in Event.objects.filter(dataset=dataset).order_by("sequence").iterator():
                replay.apply(event)
            check_head(ledger, replay)
            _check_dataset(dataset, replay)
            _check_versions(dataset, replay)
            _check_guides(dataset, replay)
            _check_rounds(dataset, replay)
            check_accounts(dataset, replay)
            _check_restorations(dataset, replay)
            _check_allowances(dataset, replay)
            _check_releases(dataset, replay)
            _check_charges(dataset, replay)
            _check_results(dataset, replay)
            guides.check(dataset, replay)
            if problem := administrator_reads.first_problem(dataset):
                raise Disagreement(None, problem)
    except Ledger.DoesNotExist:
        return Report(ok=False, events=0, problem="the ledger's own row is missing")
    except NotStored as found:
        return Report(ok=False, events=replay.sequence, problem=f"a release: {found}")
    except (DataError, OverflowError, ValueError):
        # A database holds moments and numbers that Python does not.
        return Report(ok=False, events=replay.sequence, problem="a row of it cannot be read")
    except Disagreement as found:
        return Report(
            ok=False, events=replay.sequence, first_bad_sequence=found.sequence, problem=found.problem
        )
    return Report(ok=True, events=replay.sequence)


def _closed(ledger: Ledger) -> Report:
    """Checks a closed ledger: the event that closed it is the last, and says what it said; of those before it
    nothing is known."""
    event = Event.objects.filter(dataset=ledger.dataset_id, sequence=ledger.last_sequence).first()
    is_closed = ledger.closed_sequence == ledger.last_sequence
    if event is None or event.kind != CLOSE or not event.hash == event_hash(event) == ledger.last_hash:
        is_closed = False
    if event is None or not is_closed:
        raise Disagreement(ledger.closed_sequence, "the event that closed the ledger was changed")
    problem = "closed for good: nothing before it counts as verified"
    return Report(
        ok=False, closed=True, events=event.sequence, first_bad_sequence=event.sequence, problem=problem
    )


def check_head(ledger: Ledger, replay: Replay) -> None:
    """Compares the last event with the ledger's own row. Errors: Disagreement."""
    if (ledger.last_sequence, ledger.last_hash) != (replay.sequence, replay.previous_hash):
        raise Disagreement(
            replay.sequence + 1, "the last events are missing, or the ledger's head was changed"
        )
    if replay.sequence == 0:
        raise Disagreement(1, "the ledger was never opened")


def _check_dataset(dataset: Dataset, replay: Replay) -> None:
    current_facts = facts.dataset_facts(Dataset.objects.get(pk=dataset.pk))
    for name in sorted({*current_facts, *replay.dataset}):
        if current_facts.get(name) != replay.dataset.get(name):
            raise Disagreement(1, f"the dataset's {name} was changed after the ledger was opened")
    row = Dataset.objects.get(pk=dataset.pk)
    if facts.schedule_fact(row) != replay.schedule:
        raise Disagreement(None, "the schedule of data versions is not the one of the events")
    if row.slot_doublings != replay.slot_doublings:
        raise Disagreement(None, "the length of slots is not what the events say")
    if facts.retention_fact(row) != replay.retention:
        raise Disagreement(None, "how long check-ins are kept is not what the events say")


def _check_versions(dataset: Dataset, replay: Replay) -> None:
    rows = list(DataVersion.objects.filter(dataset=dataset).order_by("number"))
    if [row.number for row in rows] != list(range(1, replay.version + 1)):
        raise Disagreement(None, "the data versions are not those of the events")
    for row in rows:
        if facts.kept_from_fact(row) != replay.kept_from[row.number]:
            raise Disagreement(None, f"version {row.number}: the days it has are not those of its event")
    _check_commitments(dataset, replay)


def _check_commitments(dataset: Dataset, replay: Replay) -> None:
    """Checks commitments: the last commitment covers the versions before it; of a lake each version has
    tables of its own."""
    queued = Release.objects.filter(dataset=dataset, state__in=QUEUED).values_list(
        "version__number", flat=True
    )
    for number in sorted({*queued, *list(replay.commitments)[-1:]} if replay.commitments else ()):
        try:
            version_commitments.check_bound(dataset, number, replay.commitments)
        except VersionChanged:
            raise Disagreement(
                None, f"version {number}: what it holds is not what its event commits to"
            ) from None


def _check_guides(dataset: Dataset, replay: Replay) -> None:
    rows = {str(row.pk): row for row in GuideFile.objects.filter(dataset=dataset)}
    for pk in sorted({*rows, *replay.guides}):
        row = rows.get(pk)
        if row is None or facts.guide_facts(row) != replay.guides.get(pk):
            raise Disagreement(None, f"guide file {pk}: it is not what its event says")
        if hashlib.sha256(row.shares).hexdigest() != row.sha256:
            raise Disagreement(None, f"guide file {pk}: its shares were changed")


def _check_rounds(dataset: Dataset, replay: Replay) -> None:
    rows = {row.pk: row for row in Round.objects.filter(release__dataset=dataset)}
    fixed_facts = {pk: facts.round_facts(row) for pk, row in rows.items() if row.facts_sha256}
    for pk in sorted({*fixed_facts, *replay.rounds}):
        if pk not in fixed_facts:
            raise Disagreement(None, f"round {pk}: it is not what its event says")
        check_round(rows[pk], replay)
        if pk in replay.batches and facts.batch_facts(rows[pk]) != replay.batches[pk]:
            raise Disagreement(None, f"round {pk}: its reports are not what its event says")


def check_round(row: Round, replay: Replay) -> None:
    """Compares a round with the event that fixed it. Errors: Disagreement."""
    if facts.round_facts(row) != replay.rounds.get(row.pk):
        raise Disagreement(None, f"round {row.pk}: it is not what its event says")
    if hashlib.sha256(row.facts.encode()).hexdigest() != row.facts_sha256:
        raise Disagreement(None, f"round {row.pk}: its facts were changed")
    if not facts.text_matches_columns(row):
        raise Disagreement(None, f"round {row.pk}: its row is not what its facts say")


def check_accounts(dataset: Dataset, replay: Replay) -> None:
    """Compares limits and balances with what the events add up to. Errors: Disagreement."""
    accounts = {str(account.kind): account for account in Account.objects.filter(dataset=dataset)}
    for kind in sorted({*accounts, *replay.limits}):
        if kind not in replay.limits or kind not in accounts:
            raise Disagreement(None, f"account {kind}: it is missing, or no event opened it")
        account = accounts[kind]
        replayed_balance = (replay.limits[kind], replay.committed[kind], replay.unbounded[kind] > 0)
        if (facts.limit_fact(account.limit), account.committed, account.unbounded) != replayed_balance:
            raise Disagreement(None, f"account {kind}: its limit or balance is not what the events add up to")


def _check_restorations(dataset: Dataset, replay: Replay) -> None:
    rows = Restoration.objects.filter(dataset=dataset).order_by("pk")  # clocks may step back
    stored_facts = [facts.restoration_facts(row) for row in rows.prefetch_related("charges__account")]
    if stored_facts != replay.restorations:
        raise Disagreement(None, "what was charged after a restore is not what the events say")
    if rows.filter(confirmed_at=None).exists() != replay.waits:
        raise Disagreement(None, "whether a steward confirmed a restore is not what the events say")


def _check_allowances(dataset: Dataset, replay: Replay) -> None:
    rows = Allowance.objects.filter(account__dataset=dataset).select_related("account")
    rows_by_key = {(str(row.account.kind), row.person_id or facts.EVERYBODY): row for row in rows}
    for kind, person in sorted({*rows_by_key, *replay.allowances, *replay.committed_by_person}, key=str):
        row = rows_by_key.get((kind, person), Allowance(follows_default=person != facts.EVERYBODY))
        replayed_allowance = replay.allowance(kind, person), replay.committed_by_person.get((kind, person), 0)
        row.person_id = None if person == facts.EVERYBODY else int(person)
        if (facts.allowance_fact(row), row.committed) != replayed_allowance:
            raise Disagreement(
                None, f"account {kind}: the allowance of {person} is not what the events add up to"
            )


def _check_releases(dataset: Dataset, replay: Replay) -> None:
    row_ids = set()
    for release in (
        Release.objects.filter(dataset=dataset)
        .select_related("version", "publication")
        .order_by("pk")
        .iterator()
    ):
        row_ids.add(release.pk)
        replayed = replay.releases.get(release.pk)
        if replayed is None:
            raise Disagreement(None, f"release {release.pk}: no event made it")
        if release.state != replayed.state:
            raise Disagreement(
                replayed.sequence, f"release {release.pk}: its state is not what its events say"
            )
        if facts.differences(release, replayed.facts):
            raise Disagreement(replayed.sequence, f"release {release.pk}: its question was changed")
        if release.requested_by_id != replayed.person:
            raise Disagreement(replayed.sequence, f"release {release.pk}: who asked for it was changed")
        if replayed.moments not in (None, facts.moments(release)) or release.late != replayed.late:
            raise Disagreement(
                replayed.sequence, f"release {release.pk}: its moments are not what its events say"
            )
        publication = getattr(release, "publication", None)
        readers = (None, False) if publication is None else (publication.sequence, publication.is_public)
        is_shown = release.public_since is not None
        if readers != (replayed.publication, replayed.is_public) or is_shown != replayed.is_public:
            raise Disagreement(
                replayed.publication, f"release {release.pk}: its readers are not those of its events"
            )
    for pk, replayed in replay.releases.items():
        if pk not in row_ids:
            raise Disagreement(replayed.sequence, f"release {pk}: its row is missing")


def _check_charges(dataset: Dataset, replay: Replay) -> None:
    rows = Charge.objects.filter(release__dataset=dataset)
    stored_charges: dict[object, dict[str, int | str]] = {}
    for release, kind, amount in rows.values_list("release_id", "account__kind", "amount").iterator():
        stored_charges.setdefault(release, {})[kind] = facts.charge_fact(amount)
    for pk, replayed in replay.releases.items():
        if stored_charges.get(pk) != replayed.charges:
            raise Disagreement(replayed.sequence, f"release {pk}: its charges are not what its events say")


def _check_results(dataset: Dataset, replay: Replay) -> None:
    results = Result.objects.filter(release__dataset=dataset).order_by("pk").iterator(chunk_size=10)
    digests = {row.pk: (row.sha256, hashlib.sha256(row.content).hexdigest()) for row in results}
    for pk, replayed in replay.releases.items():
        expected = (
            (replayed.sha256, replayed.sha256) if replayed.state == ReleaseState.PUBLISHED else ("", "")
        )
        if digests.get(pk, ("", "")) != expected:
            raise Disagreement(replayed.sequence, f"release {pk}: its result is missing or was changed")
