"""Builds the JSON bodies of answers from what the product's functions return."""

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any
from uuid import UUID

from django.db.models import F
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from api.serializers.datasets import DatasetOut, VersionOut
from api.serializers.districts import DistrictFileOut
from api.serializers.guides import GuideFileOut, GuideOut
from api.serializers.ledger import EventOut
from api.serializers.releases import MechanismOut, QuoteOut, ReleaseOut
from api.serializers.sources import SourceOut, SurveyOut
from api.serializers.uploads import UploadOut
from heatmaps import queries
from heatmaps.data_slice import DataSlice, moment_or_none
from heatmaps.exports import district_sums
from heatmaps.exports.release_files import PREVIEWS, SHEET
from heatmaps.guides import choices
from heatmaps.guides.chain import together_or_none
from heatmaps.guides.choices import Chosen
from heatmaps.ingest import uploads
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger.transitions import slots
from heatmaps.masses import column_copies
from heatmaps.masses.column_copies import CopyState
from heatmaps.models import (
    Charge,
    Dataset,
    DataVersion,
    DistrictFile,
    Event,
    GuideFile,
    Release,
    ReleaseState,
    SourceSurvey,
    SurveyState,
    Upload,
    UploadState,
)
from heatmaps.people import permissions
from heatmaps.people.permissions import Act
from heatmaps.regions import region_of
from heatmaps.releases import lifecycle, readings
from heatmaps.releases.epsilon.forecast import Forecast
from heatmaps.releases.question import data_slice_of
from heatmaps.releases.quote import Quote
from heatmaps.result_kinds.entries import kind_of_release
from heatmaps.sources.sources_file import Source
from heatmaps.wording import mechanism_choice
from heatmaps.wording.events import event_line
from heatmaps.wording.guides import guide_line, line_of
from heatmaps.wording.record_distance import as_read, distance_words
from heatmaps.wording.release import for_map
from heatmaps.wording.release_line import ReleaseLine, line_for
from mechanisms.catalogue.registry import AnyEntry
from mechanisms.guarantee import Guarantee

Body = Mapping[str, Any]


def address(request: Request, name: str, *arguments: str | UUID) -> str:
    return request.build_absolute_uri(reverse(f"api:{name}", args=arguments))


def dataset(request: Request, dataset: Dataset) -> Body:
    """Returns public facts only, whoever asks."""
    permissions.note_reads(request.user, [dataset.pk])
    parts = (
        *("versions", "releases", "quotes", "budget", "ledger", "uploads", "checkins", "opt-outs"),
        *("districts", "guides", "members", "invitations", "allowances", "spending", "administrator-reads"),
        *((tab.name,) if (tab := dataset.origin.tab) else ()),
    )
    links = {part.replace("-", "_"): address(request, part, dataset.slug) for part in parts}
    return _answer(
        DatasetOut,
        dataset,
        bbox=list(region_of(dataset)),
        version=queries.current_version(dataset),
        schedule=schedule(dataset),
        collection=dataset.origin.collection(dataset),
        source=dataset.source or None,
        slot_seconds=slots.length(dataset).total_seconds(),
        roles=sorted(permissions.roles(request.user, dataset)),
        links={"self": address(request, "dataset", dataset.slug), **links},
    )


def version(version: DataVersion, *, to_steward: bool) -> Body:
    """Returns a version; what its lake has is data: for stewards only."""
    state = getattr(version, "source_state", None) if to_steward else None
    counts = {name: None if state is None else getattr(state, name) for name in ("rows", "invalid")}
    return _answer(VersionOut, version, **counts)


def survey(survey: SourceSurvey) -> Body:
    """Returns a survey, which is data: for stewards only."""
    is_coming = survey.state != SurveyState.FAILED
    return _answer(SurveyOut, survey, appears_at=survey.appears_at if is_coming else None)


def source(source: Source) -> Body:
    """Returns a source, but not where it is."""
    return _answer(SourceOut, source, kind=source.table.kind, has_times=source.time is not None)


def schedule(dataset: Dataset) -> Body | None:
    """Returns the schedule as requests name it."""
    rule = Schedule.parse(dataset.schedule)
    if rule is None:
        return None
    return {name: value for name, value in asdict(rule).items() if value is not None}


def quote(
    request: Request, dataset: Dataset, quoted: Quote, more: Forecast, largest_epsilon: Fraction | None
) -> Body:
    same, start = quoted.same_release, quoted.guide
    return _answer(
        QuoteOut,
        quoted,
        data_slice=_data_slice(quoted.data_slice, dataset),
        guarantee=quoted.guarantee.to_json(),
        guarantee_together=_together(dataset, quoted.guarantee, start),
        on_devices=None if quoted.with_shuffler is None else quoted.with_shuffler.to_json(),
        statements=for_map(quoted.guarantee, dataset, start, mechanism=quoted.request.mechanism),
        distance=distance_words(quoted.guarantee),
        guide=None if start is None else guide(dataset, start, start.guide.sha256, member=True),
        problem=quoted.problem or None,
        largest_epsilon=largest_epsilon,
        same_release=None if same is None else address(request, "release", same.pk),
        more_like_this=more,
    )


def release(request: Request, release: Release, *, outsider: bool = False) -> Body:
    """Returns a release. Its state is the public one: when a draw begins and how it fails stays in the
    ledger.

    outsider: somebody reads it only because it is public, and is told nothing else of its dataset.
    """
    return release_of_line(request, line_for(request.user, release), outsider=outsider)


def release_of_line(request: Request, line: ReleaseLine, *, outsider: bool = False) -> Body:
    """Returns a release as `release` does, with a line that is there already."""
    release = line.release
    own = Guarantee.from_json(release.guarantee)
    charges = Charge.objects.filter(release=release).annotate(kind=F("account__kind")).order_by("account")
    return _answer(
        ReleaseOut,
        release,
        guarantee_together=_together(release.dataset, own, choices.bound(release)),
        distance=distance_words(own),
        links=_release_links(request, release, outsider=outsider),
        data_slice=_data_slice(data_slice_of(release), release.dataset),
        charges=[] if outsider else charges,
        guide=_guide_of(release, member=line.is_for_member),
        public=release.is_public,
        title=line.title,
        name=line.title if line.is_named else "",
        note=line.note,
        name_public=release.is_name_public,
        expires_at=release.expires_at if release.public_state == "queued" else None,
    )


def guide(dataset: Dataset, start: Chosen, sha256: str, *, member: bool) -> Body:
    """Returns a public map that releases of a dataset may begin from."""
    return GuideOut(guide_line(dataset, start, sha256, member=member)).data


def guide_file(file: GuideFile) -> Body:
    """Returns a guide file as it was stored."""
    line = guide_line(file.dataset, Chosen(file=file), file.sha256)
    guarantee = None if line.guarantee is None else line.guarantee.to_json()
    return _answer(GuideFileOut, line, guarantee=guarantee, stored_at=file.stored_at)


def upload(request: Request, upload: Upload) -> Body:
    """Returns an upload, which is data: for stewards only."""
    links = {
        "self": address(request, "upload", upload.pk),
        "dataset": address(request, "dataset", upload.dataset.slug),
    }
    if uploads.rejected_rows_path(upload) is not None:
        links["rejected"] = address(request, "upload-rejected", upload.pk)
    if upload.state == UploadState.READY and upload.version is None:
        links["undo"] = address(request, "upload-undo", upload.pk)
    copy = column_copies.copy_state(upload)
    if copy is CopyState.GIVEN_UP:
        links["copy"] = address(request, "upload-copy", upload.pk)
    return _answer(UploadOut, upload, copy=copy.value, links=links)


def district_file(request: Request, dataset: Dataset, file: DistrictFile) -> Body:
    """Returns a district file, for members."""
    links = {"self": address(request, "district", dataset.slug, file.pk)}
    return _answer(DistrictFileOut, file, links=links)


def district_file_of(request: Request, release: Release, file: DistrictFile) -> Body:
    """Returns a district file, for whoever sees the release."""
    links = {"geojson": address(request, "release-district", release.pk, file.pk)}
    if district_sums.has_sums(release):
        for name, page in (("areas", "areas"), ("csv", "areas-csv")):
            links[name] = f"{address(request, page, release.pk)}?districts={file.pk}"
    return _answer(DistrictFileOut, file, links=links)


def event(request: Request, dataset: Dataset, row: Event) -> Body:
    """Returns an event as the ledger's page shows it."""
    exact_time = permissions.may(request.user, dataset, Act.SEE_DATA)
    return _answer(EventOut, event_line(row, exact_time=exact_time), kind=row.kind)


def mechanism(entry: AnyEntry, *, of: Dataset | None = None) -> Body:
    """Returns a mechanism as anybody may ask, or as is possible in a dataset."""
    is_metric = mechanism_choice.protected(entry) == "moves"
    return _answer(
        MechanismOut,
        entry,
        relations=sorted(entry.relations),
        max_resolution=entry.max_resolution if of is None else readings.finest(of, entry),
        distance=as_read(Fraction(entry.usual_delta or 0)) if is_metric else "",
    )


def _data_slice(data_slice: DataSlice, dataset: Dataset) -> Body:
    region = None if data_slice.rectangle is None else data_slice.region(region_of(dataset))
    return {
        "since": moment_or_none(data_slice.since),
        "until": moment_or_none(data_slice.until),
        "rectangle": None if region is None else list(region),
    }


def _release_links(request: Request, release: Release, *, outsider: bool) -> dict[str, Any]:
    links: dict[str, Any] = {"self": address(request, "release", release.pk)}
    if not outsider:
        links["dataset"] = address(request, "dataset", release.dataset.slug)
    if release.state == ReleaseState.PUBLISHED:
        kind = kind_of_release(release)
        links["districts"] = address(request, "release-districts", release.pk)
        links["sheet"] = address(request, kind.stem, release.pk, SHEET)
        links |= {
            name.replace("-", "_"): address(request, f"release-{name}", release.pk) for name in PREVIEWS
        }
        names = [file_format.name for file_format in kind.formats.values()]
        links[kind.stem] = {name: address(request, kind.stem, release.pk, name) for name in names}
    elif lifecycle.may_be_cancelled(release):
        links["cancel"] = address(request, "release-cancel", release.pk)
    return links


def _together(dataset: Dataset, guarantee: Guarantee, start: Chosen | None) -> Body | None:
    together = together_or_none(dataset, guarantee, start)
    return None if together is None else together.to_json()


def _guide_of(release: Release, *, member: bool) -> Body | None:
    line = line_of(release, member=member)
    return None if line is None else GuideOut(line).data


class _Facts:
    """Gives an object facts beside its own."""

    def __init__(self, of: object, more: Body) -> None:
        self._of = of
        vars(self).update(more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


def _answer(shape: type[Serializer[Any]], of: object, **more: object) -> Body:
    return shape(_Facts(of, more)).data
