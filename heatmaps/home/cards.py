"""Reads a card for each dataset, in as many queries for fifty as for one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from heatmaps.budget import alerts, allowances
from heatmaps.models import Account, Charge, Dataset, DataVersion, Release, ReleaseState, Role
from heatmaps.origins import COLUMNS
from heatmaps.people.permissions import ALLOWED, Act, memberships, misfit, note_reads
from heatmaps.queries import percent_of
from heatmaps.releases.epsilon.forecast import fitting
from heatmaps.wording.budget_left import more_like_the_last, part_left
from heatmaps.wording.release import result_word

ASKERS: Final = ALLOWED[Act.RELEASE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pot:
    """Pays charges on one account: a limit, or somebody's allowance (None: not limited)."""

    limit: int | None
    committed: int

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(self.limit - self.committed, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Links to a page of a dataset; `joins` stands between its title and the dataset's."""

    address: str  # the name of its address
    title: str
    joins: str = "of"


Pots = Mapping[int, list[Pot]]  # by account


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Shows a dataset. `percent` of what is used where least is left, for a bar; "": nothing is limited."""

    dataset: Dataset
    role: str  # empty: an administrator who is no member
    latest: UUID | None  # the newest published release
    has_data: bool  # a version of the data, which is public
    budget: str
    percent: str
    alert: int  # percent that are used at least; 0: nothing to be told

    @property
    def role_title(self) -> str:
        return Role(self.role).label if self.role else "Administrator"

    @property
    def may_release(self) -> bool:
        return self.has_data and self.role in ASKERS and not misfit(self.dataset, Act.RELEASE)

    @property
    def may_upload_first(self) -> bool:
        may_upload = self.role in ALLOWED[Act.UPLOAD] and not misfit(self.dataset, Act.UPLOAD)
        return may_upload and not self.has_data

    @property
    def link(self) -> Link | None:
        """Returns the link to this person's next step; None: nothing but to look."""
        words, tab = self.dataset.origin.words, self.dataset.origin.tab
        if tab is not None:
            return Link(address=tab.address, title=tab.title)
        if self.may_release:
            return Link(address="release-new", title="New release")
        if self.may_upload_first:
            return Link(address="dataset-data", title=words.first_step, joins=words.joins)
        return Link(address="ledger", title="Ledger") if self.role == Role.AUDITOR else None


def cards_of(person: User, datasets: Sequence[Dataset]) -> list[Card]:
    """Makes one card for each, in their order; an administrator's reading is recorded."""
    note_reads(person, [dataset.pk for dataset in datasets])
    members = memberships(person).filter(dataset__in=datasets)
    roles = dict(members.values_list("dataset", "role"))
    latest = {release.dataset_id: release for release in _latest(datasets)}
    charges = _charges(latest.values())
    pots = pots_of(person, datasets, roles)
    fed = set(DataVersion.objects.filter(dataset__in=datasets).values_list("dataset", flat=True))
    return [
        _card(
            dataset,
            roles.get(dataset.pk, ""),
            latest.get(dataset.pk),
            charges,
            pots[dataset.pk],
            has_data=dataset.pk in fed,
        )
        for dataset in datasets
    ]


def pots_of(person: User, datasets: Iterable[Dataset], roles: Mapping[int, str]) -> Mapping[int, Pots]:
    """Returns each dataset's limits, and this person's allowances where the role asks for releases."""
    accounts = list(Account.objects.filter(dataset__in=datasets).order_by("pk"))
    asker_accounts = [account for account in accounts if roles.get(account.dataset_id) in ASKERS]
    own = allowances.own_on(asker_accounts, person)
    pots: dict[int, dict[int, list[Pot]]] = defaultdict(dict)
    for account in accounts:
        account_pots = [Pot(limit=account.limit, committed=account.committed)]
        if account.pk in own:
            account_pots.append(Pot(limit=own[account.pk].limit, committed=own[account.pk].committed))
        pots[account.dataset_id][account.pk] = account_pots
    return pots


def alert_of(pots: Pots) -> int:
    """Returns the highest of `alerts.LEVELS` that one of them has reached."""
    return max((alerts.level(pot.committed, pot.limit) for pot in _all(pots)), default=0)


def _card(
    dataset: Dataset,
    role: str,
    latest: Release | None,
    charges: Mapping[UUID, list[Charge]],
    pots: Pots,
    *,
    has_data: bool,
) -> Card:
    percents = [percent_of(pot.committed, pot.limit) for pot in _all(pots) if pot.limit is not None]
    percent = max(percents, key=float, default="")
    return Card(
        dataset=dataset,
        role=role,
        latest=None if latest is None else latest.pk,
        has_data=has_data,
        budget=_words(latest, charges, pots, percent),
        percent=percent,
        alert=alert_of(pots),
    )


def _words(latest: Release | None, charges: Mapping[UUID, list[Charge]], pots: Pots, percent: str) -> str:
    if latest is None:
        return part_left(percent)
    charged = [charge for charge in charges[latest.pk] if charge.amount != 0]
    left = [[pot.left for pot in pots[charge.account_id]] for charge in charged]
    fits = [fitting(charge.amount, units) for charge, units in zip(charged, left, strict=True)]
    more = min((count for count in fits if count is not None), default=None)
    is_used_up = any(0 in units for units in left)
    return more_like_the_last(
        result_word(latest.mechanism, runs_on=latest.dataset.origin.runs_on), more, is_used_up=is_used_up
    )


def _latest(datasets: Sequence[Dataset]) -> QuerySet[Release]:
    """Returns the newest published release of each; a dataset's releases stand in the order of requests."""
    published = Release.objects.filter(
        dataset=OuterRef("pk"), state=ReleaseState.PUBLISHED, visible_at__lte=timezone.now()
    )
    newest = Dataset.objects.filter(pk__in=[dataset.pk for dataset in datasets]).values_list(
        Subquery(published.order_by("-requested_at").values("pk")[:1])
    )
    return (
        Release.objects.filter(pk__in=newest.order_by())
        .select_related("dataset")
        .only("mechanism", *(f"dataset__{column}" for column in COLUMNS))
    )


def _charges(releases: Iterable[Release]) -> dict[UUID, list[Charge]]:
    charges: dict[UUID, list[Charge]] = {release.pk: [] for release in releases}
    for charge in Charge.objects.filter(release__in=list(charges)):
        charges[charge.release_id].append(charge)
    return charges


def _all(pots: Pots) -> Iterable[Pot]:
    return (pot for account_pots in pots.values() for pot in account_pots)
