"""What the pages read. Nothing here writes; what is data is marked and asked for by stewards only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, QuerySet
from django.http import Http404

from heatmaps import alerts
from heatmaps.access import ADMINISTRATOR, Act, Person, require, roles
from heatmaps.ingest.optouts import pending
from heatmaps.ingest.uploads import rejected_rows_path
from heatmaps.ledger.amounts import as_decimal
from heatmaps.ledger.balances import Balance, balances
from heatmaps.ledger.reading import Selection, events_for
from heatmaps.masses import packing
from heatmaps.models import (
    AccountKind,
    Charge,
    Dataset,
    DataVersion,
    Event,
    Membership,
    Release,
    ReleaseState,
    Role,
    Upload,
    UploadState,
)
from heatmaps.publication import readable_release
from heatmaps.quotes import asked_of
from mechanisms.grid import Region
from mechanisms.guarantee import Guarantee, Relation

NO_LIMIT: Final = "no limit"
NO_BOUND: Final = "no bound"
LONGEST_SEARCH: Final = 120  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetLine:
    dataset: Dataset
    roles: tuple[str, ...]
    releases: int  # published ones, which are public facts to members
    budget: tuple["BudgetLine", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """An odometer: exact decimals, and for its bar percentages of the limit as plain decimals."""

    kind: AccountKind
    title: str
    limit: str
    spent: str
    reserved: str
    left: str
    has_limit: bool
    unbounded: bool
    spent_percent: str
    reserved_percent: str
    alert: int  # percent of the limit that are taken at least; 0: nothing to be told


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadLine:
    """Data: for stewards only."""

    upload: Upload
    percent: int
    active: bool
    counts: str
    may_undo: bool  # until a version includes it
    rejected_listed: bool  # the list of rejected rows is kept for 7 days
    uncopied: bool  # releases read its rows, as no copy in columns could be made; that may be tried again


def region_of(dataset: Dataset) -> Region:
    return Region(dataset.west, dataset.south, dataset.east, dataset.north)


def released_region(release: Release) -> Region:
    """What a release's map covers: its part of the dataset's region."""
    return asked_of(release).region(region_of(release.dataset))


def datasets_of(person: User, search: str = "") -> QuerySet[Dataset]:
    """The datasets a person is a member of, and for an administrator all of them, by title.

    With every word of `search` in their title or address.
    """
    mine = Membership.objects.filter(user=person).values("dataset")
    found = Dataset.objects.all() if person.is_superuser else Dataset.objects.filter(pk__in=mine)
    for word in search.split():
        found = found.filter(Q(title__icontains=word) | Q(slug__icontains=word))
    return found


def dataset_lines(person: User, datasets: Sequence[Dataset]) -> list[DatasetLine]:
    """What the list of datasets says of each."""
    roles = dict(Membership.objects.filter(user=person).values_list("dataset", "role"))
    published = dict(
        Release.objects.filter(dataset__in=datasets, state=ReleaseState.PUBLISHED)
        .order_by()
        .values_list("dataset")
        .annotate(count=Count("pk"))
    )
    return [
        DatasetLine(
            dataset=dataset,
            roles=_role_names(roles.get(dataset.pk), person),
            releases=published.get(dataset.pk, 0),
            budget=budget(dataset),
        )
        for dataset in datasets
    ]


def budget(dataset: Dataset) -> tuple[BudgetLine, ...]:
    """The dataset's accounts in their order."""
    return tuple(map(_line, balances(dataset)))


def releases_of(dataset: Dataset) -> QuerySet[Release]:
    """All releases, the latest first."""
    return (
        Release.objects.filter(dataset=dataset)
        .select_related("requested_by", "version")
        .order_by("-requested_at")
    )


def charges_of(release: Release) -> list[tuple[str, str]]:
    """(account, exact amount) of a release."""
    rows = Charge.objects.filter(release=release).select_related("account").order_by("account")
    return [(AccountKind(row.account.kind).label, amount_text(row.amount, row.account.kind)) for row in rows]


def versions_of(dataset: Dataset) -> QuerySet[DataVersion]:
    """Data versions, the latest first."""
    return DataVersion.objects.filter(dataset=dataset).order_by("-number")


def current_version(dataset: Dataset) -> int | None:
    """The number of the latest data version; None before the first."""
    number: int | None = DataVersion.objects.filter(dataset=dataset).aggregate(latest=Max("number"))["latest"]
    return number


def uploads_of(dataset: Dataset, *, state: str = "", name: str = "") -> QuerySet[Upload]:
    """Data: for stewards only. The latest first; those in a state, or whose file name has some text in it."""
    found = Upload.objects.filter(dataset=dataset).select_related("dataset", "version", "packing")
    if state:
        found = found.filter(state=state)
    if name:
        found = found.filter(file_name__icontains=name)
    return found.order_by("-created_at", "pk")


def upload_line(upload: Upload) -> UploadLine:
    """Data: for stewards only."""
    done = 100 * min(upload.bytes_read, upload.size_bytes) // max(upload.size_bytes, 1)
    ready = upload.state == UploadState.READY
    return UploadLine(
        upload=upload,
        percent=100 if ready else done,
        active=upload.state in (UploadState.RECEIVED, UploadState.STAGED),
        counts=f"{upload.rows_accepted:,} rows taken, {upload.rows_outside:,} outside the region, "
        f"{upload.rows_rejected:,} rejected"
        + (f", {upload.rows_expired:,} deleted as too old" if upload.rows_expired else ""),
        may_undo=ready and upload.version is None,
        rejected_listed=rejected_rows_path(upload) is not None,
        uncopied=packing.is_given_up(upload),
    )


def has_waiting_uploads(dataset: Dataset) -> bool:
    """Data: for stewards only. Whether a new version would include another upload."""
    return Upload.objects.filter(dataset=dataset, state=UploadState.READY, version=None).exists()


def waiting_opt_outs(dataset: Dataset) -> int:
    """Data: for stewards only. Entries that take effect with the next version."""
    return pending(dataset)


def events_of(dataset: Dataset, *, sees_data: bool, selection: Selection | None = None) -> QuerySet[Event]:
    """The chain as somebody may see it, the latest first."""
    return events_for(dataset, sees_data=sees_data, selection=selection).order_by("-sequence")


def total_guarantee(dataset: Dataset) -> Guarantee:
    """Everything that was asked for and not cancelled, as one promise (plain composition)."""
    nothing = Guarantee(relation=Relation(dataset.relation))
    asked = Release.objects.filter(dataset=dataset).exclude(state=ReleaseState.CANCELLED)
    return sum(map(Guarantee.from_json, asked.values_list("guarantee", flat=True)), start=nothing)


def release_named(release_id: UUID) -> Release | None:
    rows = Release.objects.select_related("dataset", "requested_by", "version")
    return rows.filter(pk=release_id).first()


def release_for(person: Person, release_id: UUID) -> Release:
    """The release of that name, for those who may see it. Errors: Http404, PermissionDenied."""
    found = release_named(release_id)
    if found is None or not roles(person, found.dataset):
        raise Http404("no such release")
    require(person, found.dataset, Act.SEE)
    return found


def published_for(person: Person, release_id: UUID) -> Release:
    """The published release of that name, for members, and for anybody once it is public. Errors: Http404."""
    found = readable_release(person, release_id)
    if found.state != ReleaseState.PUBLISHED:
        raise Http404("this release has no map")
    return found


def upload_for(person: Person, upload_id: UUID) -> Upload:
    """Data: the upload of that name, for stewards. Errors: Http404, PermissionDenied."""
    found = upload_named(upload_id)
    if found is None or not roles(person, found.dataset):
        raise Http404("no such upload")
    require(person, found.dataset, Act.SEE_DATA)
    return found


def upload_named(upload_id: UUID) -> Upload | None:
    """Data: for stewards only."""
    return Upload.objects.select_related("dataset", "version").filter(pk=upload_id).first()


def amount_text(units: int | None, kind: str, *, missing: str = NO_BOUND) -> str:
    """An exact amount for people."""
    return missing if units is None else as_decimal(units, AccountKind(kind))


def percent_of(units: int, limit: int | None) -> str:
    """How much of a limit an amount is, for a bar: "0" to "100"; all of a limit of 0."""
    if limit is None or units <= 0:
        return "0"
    return f"{100 * min(units, limit) / limit:.2f}" if limit else "100"


def _role_names(role: str | None, person: User) -> tuple[str, ...]:
    held = [Role(role).label] if role else []
    return tuple(held + ([ADMINISTRATOR.capitalize()] if person.is_superuser else []))


def _line(balance: Balance) -> BudgetLine:
    kind = balance.kind
    return BudgetLine(
        kind=kind,
        title=kind.label,
        limit=amount_text(balance.limit, kind, missing=NO_LIMIT),
        spent=NO_BOUND if balance.unbounded else as_decimal(balance.spent, kind),
        reserved=as_decimal(balance.reserved, kind),
        left=amount_text(balance.available, kind, missing=NO_LIMIT),
        has_limit=balance.limit is not None,
        unbounded=balance.unbounded,
        spent_percent=percent_of(balance.spent, balance.limit),
        reserved_percent=percent_of(balance.reserved, balance.limit),
        alert=alerts.level(balance.committed, balance.limit),
    )
