"""Reads what pages show and writes nothing; private data are marked and for stewards only."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import Http404

from heatmaps.budget import alerts
from heatmaps.ingest.uploads import rejected_rows_path
from heatmaps.ledger.amounts import as_decimal, units_per_one
from heatmaps.ledger.balances import Balance, balances
from heatmaps.ledger.reading import Selection, events_for
from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.masses import column_copies
from heatmaps.models import (
    AccountKind,
    Charge,
    Dataset,
    DataVersion,
    Event,
    Release,
    ReleaseState,
    Restoration,
    SourceSurvey,
    Upload,
    UploadState,
)
from heatmaps.models.release import IS_PUBLIC
from heatmaps.numbers import count
from heatmaps.people.permissions import Act, Person, is_stranger, memberships, require
from heatmaps.record import hold
from heatmaps.regions import region_of
from heatmaps.releases.publication import readable_release
from heatmaps.releases.question import data_slice_of
from heatmaps.result_kinds import RESULT_KINDS, ResultKind
from heatmaps.result_kinds.catalogues import kind_of_mechanism, names_of_kind
from mechanisms.catalogue.registry import Kind
from mechanisms.guarantee import INFINITY, Guarantee, Relation
from mechanisms.space.grid import Region

NO_LIMIT: Final = "no limit"
NO_BOUND: Final = "no bound"
LONGEST_SEARCH: Final = 120  # characters
_REMEMBERED: Final = 4096  # guarantees as they are stored, a kilobyte each


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """Shows an odometer: exact decimals, and for its bar percentages of the limit as plain decimals."""

    kind: AccountKind
    title: str
    limit: str
    committed: str
    reserved: str  # of it held by queued releases
    left: str
    has_limit: bool
    unbounded: bool
    committed_percent: str
    alert: int  # percent of the limit that are taken at least; 0: nothing to be told


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadLine:
    """Shows stewards alone one upload: it is data."""

    upload: Upload
    percent: int
    active: bool
    counts: str
    may_undo: bool  # until a version includes it
    rejected_listed: bool  # the list of rejected rows is kept for 7 days
    warning: str  # about the users in it; empty: none
    uncopied: bool  # releases read its rows, as no copy in columns could be made; that may be tried again


def released_region(release: Release) -> Region:
    """Returns a release's part of the dataset's region."""
    return data_slice_of(release).region(region_of(release.dataset))


def datasets_of(person: User, search: str = "") -> QuerySet[Dataset]:
    """Returns the datasets a person is a member of, and for an administrator all of them, by title.

    Every word of `search` is in their title or address.
    """
    member_of = memberships(person).values("dataset")
    datasets = Dataset.objects.all() if person.is_superuser else Dataset.objects.filter(pk__in=member_of)
    for word in search.split():
        datasets = datasets.filter(Q(title__icontains=word) | Q(slug__icontains=word))
    return datasets


def readable_releases(person: Person) -> QuerySet[Release]:
    """Returns published releases that a person may see, the latest first.

    These are public ones, and those of datasets in `datasets_of`. Whoever lists them records an
    administrator's reading (`permissions.note_reads`).
    """
    visible = IS_PUBLIC
    if isinstance(person, User) and person.is_active:
        visible |= Q(dataset__in=datasets_of(person).values("pk"))
    rows = Release.objects.filter(visible, state=ReleaseState.PUBLISHED).select_related(
        "dataset", "version", "requested_by", "publication", "guide_release__dataset", "guide_file"
    )
    return rows.defer("guide_file__shares").order_by("-visible_at", "pk")


def budget(dataset: Dataset) -> tuple[BudgetLine, ...]:
    """Returns the dataset's accounts in their order."""
    return budget_lines(balances(dataset))


def budget_lines(rows: Iterable[Balance]) -> tuple[BudgetLine, ...]:
    """Returns lines of balances that were read."""
    return tuple(map(_line, rows))


def releases_of(dataset: Dataset, *, kind: Kind | None = None) -> QuerySet[Release]:
    """Returns all releases, or those of one kind of result, the latest first."""
    of_kind = {} if kind is None else {"mechanism__in": names_of_kind(kind, runs_on=dataset.origin.runs_on)}
    return (
        Release.objects.filter(dataset=dataset, **of_kind)
        .select_related(
            "dataset", "requested_by", "version", "publication", "guide_release__dataset", "guide_file"
        )
        .defer("guide_file__shares")
        .order_by("-requested_at")
    )


def kinds_of(dataset: Dataset) -> list[ResultKind]:
    """Returns the kinds of result that were asked for, in the order of the catalogue."""
    rows = Release.objects.filter(dataset=dataset).order_by()
    mechanisms = rows.values_list("mechanism", flat=True).distinct()
    names = {kind_of_mechanism(name, runs_on=dataset.origin.runs_on).name for name in mechanisms}
    return [kind for kind in RESULT_KINDS.values() if kind.name in names]


def published_of(dataset: Dataset) -> QuerySet[Release]:
    """Returns releases with a result that members may see, the latest first."""
    return releases_of(dataset).filter(state=ReleaseState.PUBLISHED)


def charges_of(release: Release) -> list[tuple[str, str]]:
    """Returns (account, exact amount) of a release."""
    rows = Charge.objects.filter(release=release).select_related("account").order_by("account")
    return [(AccountKind(row.account.kind).label, amount_text(row.amount, row.account.kind)) for row in rows]


def waits_for_operator(dataset: Dataset) -> bool:
    """Returns whether queued releases wait for an operator, as the machine was started anew."""
    since = hold.waits_since()
    queued = Release.objects.filter(dataset=dataset, state__in=QUEUED)
    return since is not None and queued.filter(requested_at__lt=since).exists()


def versions_of(dataset: Dataset) -> QuerySet[DataVersion]:
    """Returns data versions, the latest first."""
    return DataVersion.objects.filter(dataset=dataset).order_by("-number")


def current_version(dataset: Dataset) -> int | None:
    """Returns the number of the latest data version; None before the first."""
    number: int | None = DataVersion.objects.filter(dataset=dataset).aggregate(latest=Max("number"))["latest"]
    return number


def current_versions(datasets: Iterable[Dataset]) -> dict[int, int]:
    """Returns the number of the latest data version of each of these datasets that has one, by its primary
    key."""
    rows = DataVersion.objects.filter(dataset__in=[dataset.pk for dataset in datasets]).order_by()
    return dict(rows.values_list("dataset").annotate(latest=Max("number")))


def survey_of(dataset: Dataset) -> SourceSurvey | None:
    """Returns, for stewards only, the next version of a dataset in a lake, on its way or failed."""
    return SourceSurvey.objects.filter(pk=dataset.pk).first()


def uploads_of(dataset: Dataset, *, state: str = "", name: str = "") -> QuerySet[Upload]:
    """Returns, for stewards only, uploads, the latest first.

    They are those in a state, and whose file name has some text in it.
    """
    uploads = Upload.objects.filter(dataset=dataset).select_related("dataset", "version", "packing")
    if state:
        uploads = uploads.filter(state=state)
    if name:
        uploads = uploads.filter(file_name__icontains=name)
    return uploads.order_by("-created_at", "pk")


def upload_line(upload: Upload) -> UploadLine:
    """Describes an upload, for stewards only."""
    done = 100 * min(upload.bytes_read, upload.size_bytes) // max(upload.size_bytes, 1)
    ready = upload.state == UploadState.READY
    return UploadLine(
        upload=upload,
        percent=100 if ready else done,
        active=upload.state in (UploadState.RECEIVED, UploadState.STAGED),
        counts=f"{count(upload.rows_accepted)} rows taken, {count(upload.rows_outside)} outside the region, "
        f"{count(upload.rows_rejected)} rejected"
        + (f", {count(upload.rows_expired)} deleted" if upload.rows_expired else ""),
        may_undo=ready and upload.version is None,
        rejected_listed=rejected_rows_path(upload) is not None,
        warning=names_alike_words(upload),
        uncopied=column_copies.is_given_up(upload),
    )


def names_alike_words(upload: Upload) -> str:
    """Returns, for stewards only, a warning where users may be the same person under two names, or ""."""
    alike = upload.names_alike
    if not alike:
        return ""
    names = "1 user has a name that differs" if alike == 1 else f"{count(alike)} users have names that differ"
    return (
        f"{names} from another one by the spelling of a number alone, as 007, 7.0 and 7 do. They count as "
        "different people; "
        "if they are the same, each has less protection than promised: undo this upload, give them one name, "
        "and send the file again."
    )


def has_waiting_uploads(dataset: Dataset) -> bool:
    """Tells, for stewards only, whether a new version would include another upload."""
    return Upload.objects.filter(dataset=dataset, state=UploadState.READY, version=None).exists()


def events_of(dataset: Dataset, *, selection: Selection | None = None) -> QuerySet[Event]:
    """Returns the chain, the latest first."""
    return events_for(dataset, selection=selection).order_by("-sequence")


def total_guarantee(dataset: Dataset) -> Guarantee:
    """Returns everything that was asked for and not cancelled, as one promise (plain composition).

    What was charged after a restore, counts as if it were lost at any distance. Nothing of it is kept: it is
    what the rows say that `ledger.verification` checks. Equal guarantees are counted by the database, as many
    releases have few different ones.
    """
    releases = Release.objects.filter(dataset=dataset).exclude(state=ReleaseState.CANCELLED).order_by()
    texts = releases.values_list(Cast("guarantee", TextField())).annotate(count=Count("pk"))
    counted = [(_guarantee_of_text(text), count) for text, count in texts]
    restorations = dataset.restorations.prefetch_related("charges__account")
    counted += [(_unknown_loss(restoration, Relation(dataset.relation)), 1) for restoration in restorations]
    # Without any, nothing; beside others, nothing at all would ask for trust in this server.
    return Guarantee.total(counted or [(Guarantee(relation=Relation(dataset.relation)), 1)])


@lru_cache(_REMEMBERED)
def _guarantee_of_text(text: str) -> Guarantee:
    return Guarantee.from_json(json.loads(text))


def _unknown_loss(restoration: Restoration, relation: Relation) -> Guarantee:
    charges = {charge.account.kind: charge.amount for charge in restoration.charges.all()}
    whole = AccountKind.PRESENCE if relation is Relation.ADD_REMOVE else AccountKind.RECORD
    epsilon, delta = charges[whole], charges[AccountKind.DELTA]
    if epsilon is not None:  # an operator may know of the radius alone
        epsilon = max(epsilon, charges.get(AccountKind.RADIUS) or 0)
    return Guarantee.flat(
        relation=relation,
        epsilon=INFINITY if epsilon is None else Fraction(epsilon, units_per_one(whole)),
        delta=1 if delta is None else Fraction(delta, units_per_one(AccountKind.DELTA)),
    )


def release_for(person: Person, release_id: UUID) -> Release:
    """Returns the release of that name, for those who may see it. Errors: Http404, PermissionDenied."""
    rows = Release.objects.select_related("dataset", "requested_by", "version")
    release = rows.filter(pk=release_id).first()
    if release is None or is_stranger(person, release.dataset):
        raise Http404("no such release")
    require(person, release.dataset, Act.SEE)
    return release


def published_for(person: Person, release_id: UUID) -> Release:
    """Returns the published release of that name, for members, and for anybody once it is public.

    Errors: Http404.
    """
    release = readable_release(person, release_id)
    if release.state != ReleaseState.PUBLISHED:
        raise Http404("this release has no map")
    return release


def upload_for(person: Person, upload_id: UUID) -> Upload:
    """Returns the upload of that name, for stewards: it is data. Errors: Http404, PermissionDenied."""
    upload = Upload.objects.select_related("dataset", "version").filter(pk=upload_id).first()
    if upload is None or is_stranger(person, upload.dataset):
        raise Http404("no such upload")
    require(person, upload.dataset, Act.SEE_DATA)
    return upload


def amount_text(units: int | None, kind: str, *, missing: str = NO_BOUND) -> str:
    """Writes an exact amount for people."""
    return missing if units is None else as_decimal(units, AccountKind(kind))


def percent_of(units: int, limit: int | None) -> str:
    """Returns an amount's part of a limit in percent, for a bar: "0" to "100"; all of a limit of 0."""
    if limit is None or units <= 0:
        return "0"
    return f"{100 * min(units, limit) / limit:.2f}" if limit else "100"


def _line(balance: Balance) -> BudgetLine:
    kind = balance.kind
    return BudgetLine(
        kind=kind,
        title=kind.label,
        limit=amount_text(balance.limit, kind, missing=NO_LIMIT),
        committed=NO_BOUND if balance.unbounded else as_decimal(balance.committed, kind),
        reserved=as_decimal(balance.reserved, kind),
        left=amount_text(balance.available, kind, missing=NO_LIMIT),
        has_limit=balance.limit is not None,
        unbounded=balance.unbounded,
        committed_percent=percent_of(balance.committed, balance.limit),
        alert=alerts.level(balance.committed, balance.limit),
    )
