"""Reserves a release's cost in one transaction: all or nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, F, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from heatmaps.ledger import events, facts
from heatmaps.ledger.amounts import LARGEST, Charges
from heatmaps.ledger.errors import (
    BudgetExceeded,
    Overtaken,
    QueueTooLong,
    TooManyQuestions,
    UnboundedCharge,
)
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions import allowances, slots
from heatmaps.ledger.transitions.locks import locked, locked_accounts
from heatmaps.ledger.transitions.moves import QUEUED, RESERVE
from heatmaps.models import (
    Account,
    AccountKind,
    Charge,
    Dataset,
    DataVersion,
    Release,
    ReleaseState,
    RequestKey,
)
from heatmaps.record import hold

QUESTIONS_COUNTED: Final = timedelta(days=1)
# What a day's questions take may be more than a day; and check-ins that are too old wait for the queue.
LONGEST_QUEUE: Final = timedelta(days=1)


def reserve(
    release: Release,
    charges: Charges,
    *,
    actor: User,
    key: str | None = None,
    body_sha256: str = "",
    unless_answered: bool = False,
    slot: tuple[datetime, datetime] | None = None,
) -> Release:
    """Saves a new release and commits its charges, all or nothing; with the `Idempotency-Key` it was asked by
    and the SHA-256 of that request's body.

    It gets the next slot of its dataset, or `slot`, which the caller chose behind all others.
    `unless_answered`: only if, at that moment, the release's version is the latest, no published release
    answers its question and nobody used the key: then the caller has to look again.
    Errors: BudgetExceeded, AllowanceExceeded, UnboundedCharge, Overtaken, TooManyQuestions, QueueTooLong, and
    `OnHold` where the installation or the dataset is on hold.
    """
    for amount in charges.values():
        if amount is not None and not 0 <= amount <= LARGEST:
            raise ValueError(f"a charge is {amount}, allowed: 0 to {LARGEST} units, or None")
    release.state = ReleaseState.RESERVED
    with locked(release.dataset_id) as ledger:
        hold.check_dataset(release.dataset_id)
        now = timezone.now()
        _lock_person(actor)
        precedents = _precedents(release, actor, key, now)
        if unless_answered and precedents.answered:
            raise Overtaken
        precedents.check_questions()
        accounts = locked_accounts(release.dataset_id)
        if set(charges) != {account.kind for account in accounts}:
            raise ValueError("charges must name exactly the accounts of the dataset")
        release.starts_at, release.visible_at = slot or slots.next_slot(
            ledger.dataset, now, precedents.taken_until
        )
        if slot is None:
            if release.starts_at - now > LONGEST_QUEUE:
                raise QueueTooLong(again_at=release.starts_at - LONGEST_QUEUE)
            release.expires_at += release.starts_at - now  # its turn may be days away
        release.save(force_insert=True)
        before = facts.balances(accounts)
        committed = {str(row.kind): _commit(row, charges[AccountKind(row.kind)]) for row in accounts}
        allowances.take(accounts, actor, committed)
        Charge.objects.bulk_create(
            Charge(release=release, account=row, amount=committed[str(row.kind)]) for row in accounts
        )
        after = _after(release, committed, accounts)
        events.append(
            ledger, RESERVE, actor=actor, release=release.pk, before={"committed": before}, after=after
        )
        if key is not None:
            RequestKey.objects.create(requested_by=actor, key=key, body_sha256=body_sha256, release=release)
    return release


def _after(release: Release, committed: Mapping[str, int | None], accounts: list[Account]) -> Facts:
    return {
        "state": str(release.state),
        "release": facts.release_facts(release),
        "moments": facts.moments(release),
        "charges": {kind: facts.charge_fact(amount) for kind, amount in committed.items()},
        "committed": facts.balances(accounts),
    }


def _lock_person(actor: User) -> None:
    """Locks a person: questions of one person are counted one after the other, to whichever datasets they go.

    The last of the locks that two reservations may share. Not against events, which refer to the row only.
    """
    list(User.objects.select_for_update(no_key=True).filter(pk=actor.pk).values_list("pk"))


@dataclass(frozen=True, slots=True)
class _Precedents:
    """Holds the answer, the questions too many and the slots taken, under the locks of ledger and person."""

    answered: bool
    # The question that has to leave the day before another may be asked, by whose they are.
    too_many: Mapping[str, datetime | None]
    taken_until: datetime | None

    def check_questions(self) -> None:
        """Refuses one question too many. Errors: TooManyQuestions."""
        for scope, oldest in self.too_many.items():
            if oldest is not None:
                most = settings.MOST_QUESTIONS_A_DAY[scope]
                raise TooManyQuestions(scope, most, again_at=oldest + QUESTIONS_COUNTED)


def _precedents(release: Release, actor: User, key: str | None, now: datetime) -> _Precedents:
    # In one query, since all who reserve wait for it.
    dataset_id = release.dataset_id
    latest = DataVersion.objects.filter(dataset=dataset_id).order_by("-number").values("pk")[:1]
    same_question = Release.objects.filter(
        dataset=dataset_id, question=release.question, state=ReleaseState.PUBLISHED
    )
    used_key = RequestKey.objects.filter(requested_by=actor, key=key)
    questions = Release.objects.filter(requested_at__gt=now - QUESTIONS_COUNTED)
    rows = Dataset.objects.filter(pk=dataset_id).values_list(
        Subquery(latest),
        Exists(same_question),
        Exists(used_key),
        Subquery(_oldest_counted("person", questions.filter(requested_by=actor))),
        Subquery(_oldest_counted("dataset", questions.filter(dataset=dataset_id))),
        Subquery(slots.taken_until(dataset_id)),
    )
    version, is_answered, is_used, of_person, of_dataset, busy_until = rows.get()
    return _Precedents(
        version != release.version_id or is_answered or is_used,
        {"person": of_person, "dataset": of_dataset},
        busy_until,
    )


def _oldest_counted(scope: str, questions: "QuerySet[Release]") -> "QuerySet[Release, datetime]":
    most = settings.MOST_QUESTIONS_A_DAY[scope]
    return questions.order_by("-requested_at").values_list("requested_at", flat=True)[most - 1 : most]


def _commit(account: Account, amount: int | None) -> int | None:
    """Adds a charge to a locked account, in memory too, if it fits; returns the amount as it was charged."""
    if account.limit is None and amount is not None and account.committed > LARGEST - amount:
        amount = None  # more than the account can count is "no bound"
    if amount == 0:
        return amount  # what is committed fits: the database holds that
    rows = Account.objects.filter(pk=account.pk)
    if amount is None:
        if not rows.filter(limit=None).update(unbounded=True):
            raise UnboundedCharge(AccountKind(account.kind))
        account.unbounded = True
    elif not rows.filter(Q(limit=None) | Q(limit__gte=F("committed") + amount)).update(
        committed=F("committed") + amount
    ):
        raise _exceeded(account, amount)
    else:
        account.committed += amount
    return amount


def _exceeded(account: Account, amount: int) -> BudgetExceeded:
    queued_charges = Charge.objects.filter(account=account, release__state__in=QUEUED)
    return BudgetExceeded(
        AccountKind(account.kind),
        requested=amount,
        available=(account.limit or 0) - account.committed,
        reserved=queued_charges.aggregate(total=Sum("amount"))["total"] or 0,
    )
