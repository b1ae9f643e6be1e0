"""Creates datasets after checking every public fact."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from heatmaps import sources
from heatmaps.budget import limits
from heatmaps.collections.collection import NewCollection
from heatmaps.ingest.versions import retention, retention_change, scheduled, surveys
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger.amounts import ACCOUNTS
from heatmaps.ledger.transitions import open_ledger
from heatmaps.ledger.transitions.moves import UNSET, Unset
from heatmaps.models import AccountKind, Dataset, Membership, RelationChoice, Role, RowCapacity, UserForm
from heatmaps.people import embedding, interventions
from heatmaps.people.permissions import Person, require_creator
from heatmaps.pseudonyms import keys
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region

MAX_PERSONS: Final = 10**10  # more than live on Earth
MAX_RADIUS_M: Final = 40_000_000  # around the Earth
_CAPACITIES: Final = ", ".join(map(str, RowCapacity.values))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDataset:
    """States the public facts of a dataset that is to be; an invalid one cannot exist.

    `limits` holds plain decimals by account: presence (ADD_REMOVE) or record and radius (REPLACE, `None`
    for an account without a limit, at most one of the two), and delta ("0" when it is not given).
    Errors: `ParameterError` naming the field, a limit as `limits.<account>`.
    """

    slug: str
    title: str
    region: Region
    relation: Relation
    limits: Mapping[AccountKind, str | None] = field(repr=False)
    persons: int | None = None  # REPLACE: everyone enrolled
    radius_m: int | None = None  # REPLACE: the distance of the radius account
    expected_persons: int | None = None  # ADD_REMOVE: a public guess that steers utility only
    schedule: Schedule | None = None  # when data versions advance; None: by a steward's acts
    retention_days: int | None = None  # how long check-ins are kept; None: for ever
    row_capacity: int = RowCapacity.MEDIUM  # how many check-ins it may hold, of the size classes
    collection: NewCollection | None = None  # filled by people's devices, not by uploads
    source: str | None = None  # a source of HAZEMAP_SOURCES, whose check-ins stay where they are

    def __post_init__(self) -> None:
        if self.relation not in tuple(Relation):
            raise ParameterError("relation", self.relation, " or ".join(Relation))
        object.__setattr__(self, "relation", Relation(self.relation))
        object.__setattr__(self, "title", _title(self.title))
        _check_slug(self.slug)
        if not isinstance(self.region, Region):
            raise ParameterError("bbox", "no region", "west, south, east and north in degrees")
        self._check_counts()
        retention.check(self.retention_days)
        if self.row_capacity not in RowCapacity.values:
            raise ParameterError("row_capacity", self.row_capacity, f"one of {_CAPACITIES}")
        if self.collection is not None:
            self._check_collection()
        if self.source is not None:
            self._check_source()
        self.limits_in_units()

    def limits_in_units(self) -> dict[AccountKind, int | None]:
        """Returns each account's limit in its integer units; `None` where it has no limit."""
        limits = _by_kind(self.limits, self.relation)
        if self.relation is Relation.REPLACE and not (
            limits[AccountKind.RECORD] or limits[AccountKind.RADIUS]
        ):
            raise ParameterError(
                "limits.record", "no limit", "a limit for the whole record, for the radius, or for both"
            )
        return {kind: _units(kind, limits[kind]) for kind in ACCOUNTS[self.relation]}

    def _check_source(self) -> None:
        source = sources.named(self.source or "")
        _empty("collection", self.collection, "devices fill a collection, and a source stays where it is")
        if self.retention_days is not None:
            sources.check_times(source, self.retention_days)
        if self.persons is not None and self.persons > surveys.MOST_ENROLLED:
            raise ParameterError("persons", self.persons, f"at most {surveys.MOST_ENROLLED} for a source")

    def _check_collection(self) -> None:
        if self.relation is not Relation.REPLACE:
            allowed = f"{Relation.REPLACE}: who takes part in a collection is known"
            raise ParameterError("relation", self.relation, allowed)
        _empty("schedule", self.schedule, "each round is a data version")
        _empty("retention_days", self.retention_days, "nothing of a round is kept but its result")

    def _check_counts(self) -> None:
        if self.relation is Relation.REPLACE:
            _whole("persons", self.persons, MAX_PERSONS, "everyone enrolled, who is public")
            _whole("radius_m", self.radius_m, MAX_RADIUS_M, "metres")
            _empty("expected_persons", self.expected_persons, "declare persons instead")
        else:
            _empty("persons", self.persons, "the number of people is secret under add_remove")
            _empty("radius_m", self.radius_m, "no radius is promised under add_remove")
            if self.expected_persons is not None:
                _whole("expected_persons", self.expected_persons, MAX_PERSONS, "a public guess")


def create(person: Person, new: NewDataset, *, is_demo: bool = False) -> Dataset:
    """Makes the dataset with its key, its ledger and `person` as steward, in one transaction.

    Errors: PermissionDenied; `ParameterError` for a slug that is taken.
    """
    creator = require_creator(person)
    if new.source is not None and new.source not in sources.offered(creator):
        allowed = "a source whose stewards, in the administrator's file, you are one of"
        raise ParameterError("source", new.source, allowed)
    if Dataset.objects.filter(slug=new.slug).exists():
        raise _slug_taken(new.slug)
    dataset = _row(creator, new, is_demo=is_demo)
    dataset.key_fingerprint = keys.create(dataset)
    try:
        _store(creator, dataset, new)
    except BaseException as error:
        keys.discard(dataset)
        # Two at the same moment: the database's unique constraint decides.
        if isinstance(error, IntegrityError) and Dataset.objects.filter(slug=new.slug).exists():
            raise _slug_taken(new.slug) from error
        raise
    return dataset


@transaction.atomic
def change(
    person: Person,
    dataset: Dataset,
    *,
    reason: str,
    schedule: Schedule | Unset | None = UNSET,
    retention_days: int | Unset | None = UNSET,
    embed_origins: Sequence[str] | Unset = UNSET,
) -> None:
    """Sets other public rules, all or none of them. Errors: as `change` of the rule's own module says."""
    if schedule is not UNSET:
        scheduled.change(person, dataset, schedule, reason=reason)
    if retention_days is not UNSET:
        retention_change.change(person, dataset, retention_days, reason=reason)
    if embed_origins is not UNSET:
        embedding.change(person, dataset, embed_origins, reason=reason)


def _row(person: User, new: NewDataset, *, is_demo: bool) -> Dataset:
    west, south, east, north = new.region
    # A lake has no size class: it stays unsaid, also in the ledger.
    lake = {} if new.source is None else _lake_columns(new.source)
    return Dataset(
        slug=new.slug,
        title=new.title,
        west=west,
        south=south,
        east=east,
        north=north,
        relation=RelationChoice(new.relation.value),
        persons=new.persons,
        radius_m=new.radius_m,
        expected_persons=new.expected_persons,
        is_collection=new.collection is not None,
        is_demo=is_demo,
        created_by=person,
        **{"row_capacity": new.row_capacity, "user_form": UserForm.DECIMAL} | lake,
    )


def _lake_columns(source: str) -> dict[str, Any]:
    """Returns the columns that a table's dataset has otherwise than one of uploads."""
    return {
        "row_capacity": RowCapacity.HUGE,
        "source": source,
        "source_fingerprint": sources.named(source).fingerprint,
        "user_form": UserForm.AS_SENT,
    }


@transaction.atomic
def _store(person: User, dataset: Dataset, new: NewDataset) -> None:
    dataset.save(force_insert=True)
    if new.collection is not None:
        new.collection.store(dataset)  # its token is told by `collections.collection.new_token`
    steward = Membership.objects.create(dataset=dataset, user=person, role=Role.STEWARD)
    open_ledger(dataset, actor=person, limits=new.limits_in_units())
    interventions.tell(steward)
    if new.schedule is not None:
        scheduled.fix(dataset, new.schedule, actor=person)
    if new.retention_days is not None:
        retention_change.fix(dataset, new.retention_days, actor=person)


_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_SLUG_LENGTH = 60
_TITLE_LENGTH = 120
_RESERVED_SLUGS = frozenset({"new"})  # the page that makes datasets has this address


def _check_slug(slug: str) -> None:
    if not isinstance(slug, str) or len(slug) > _SLUG_LENGTH or not _SLUG.fullmatch(slug):
        allowed = f"at most {_SLUG_LENGTH} lower-case letters a-z, digits and single hyphens between them"
        raise ParameterError("slug", slug, allowed)
    if slug in _RESERVED_SLUGS:
        raise ParameterError("slug", slug, "any other name; this one is reserved")


def _slug_taken(slug: str) -> ParameterError:
    return ParameterError("slug", slug, "a name that no other dataset has")


def _title(title: str) -> str:
    text = title.strip() if isinstance(title, str) else ""
    invisible = any(unicodedata.category(character).startswith("C") for character in text)
    if not 1 <= len(text) <= _TITLE_LENGTH or invisible:
        raise ParameterError("title", title, f"1 to {_TITLE_LENGTH} visible characters")
    return text


def _whole(name: str, value: int | None, high: int, what: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= high:
        raise ParameterError(name, value, f"a whole number from 1 to {high}: {what}")


def _empty(name: str, value: object, reason: str) -> None:
    if value is not None:
        raise ParameterError(name, value, f"nothing; {reason}")


def _by_kind(limits: Mapping[AccountKind, str | None], relation: Relation) -> dict[AccountKind, str | None]:
    for kind in limits:
        if kind not in ACCOUNTS[relation]:
            accounts = ", ".join(ACCOUNTS[relation])
            raise ParameterError(f"limits.{kind}", limits[kind], f"limits for {accounts} under {relation}")
    return {kind: limits.get(kind) for kind in ACCOUNTS[relation]}


def _units(kind: AccountKind, text: str | None) -> int | None:
    if text is None:
        if kind in limits.OPTIONAL:
            return None
        text = "0" if kind is AccountKind.DELTA else ""
    return limits.units(f"limits.{kind.value}", kind, text)
