"""Keeps a dataset's district files, and shows them and people in them beside a map."""

import io
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe

from heatmaps import queries
from heatmaps.children.turns import Busy
from heatmaps.districts import files
from heatmaps.exports import district_sums
from heatmaps.exports.file_cache import NotRendered
from heatmaps.http.content_length import takes_up_to
from heatmaps.models import DistrictFile, Release
from heatmaps.people.permissions import Act, dataset_for, may, require
from heatmaps.views.dataset.forms.districts import DistrictFileForm
from heatmaps.views.releases.public import open_if_public
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted
from mechanisms.check import ParameterError

SHOWN: Final = 50  # rows of the table on a page; the CSV file has all
FORM_METHODS = ["GET", "HEAD", "POST"]
GEOJSON: Final = "application/geo+json"
_FORM_BYTES: Final = 64 * 1024  # what a form takes beside its file


@require_http_methods(FORM_METHODS)
@takes_up_to(lambda: settings.MAX_DISTRICT_BYTES + _FORM_BYTES)
def districts(request: PersonRequest, slug: str) -> HttpResponse:
    """Lists the files for all members on GET, and stores another one for stewards on POST."""
    dataset = dataset_for(request.user, slug)
    if request.method == "POST":
        require(request.user, dataset, Act.KEEP_DISTRICTS)
    form = DistrictFileForm(*([request.POST, request.FILES] if request.method == "POST" else []))

    def store() -> None:
        name_property = form.cleaned_data["name_property"]
        files.store(request.user, dataset, form.content() or b"", form.facts(), name_property=name_property)

    if submitted(request, form, store):
        messages.success(request, f"{form.cleaned_data['title']} is stored.")
        return redirect("districts", slug=dataset.slug)
    context = {
        "section": "datasets",
        "dataset": dataset,
        "files": files.files_of(dataset).select_related("stored_by"),
        "may_keep": may(request.user, dataset, Act.KEEP_DISTRICTS),
        "form": form,
    }
    return render(request, "dataset/districts/list.html", context, status=422 if form.errors else 200)


@require_http_methods(FORM_METHODS)
@takes_up_to(lambda: settings.MAX_DISTRICT_BYTES + _FORM_BYTES)
def district_file(request: PersonRequest, slug: str, file_id: UUID) -> HttpResponse:
    """Changes the facts of a file, or puts another file in its place."""
    dataset = dataset_for(request.user, slug, Act.KEEP_DISTRICTS)
    file = files.file_of(dataset, file_id)
    form = DistrictFileForm(*([request.POST, request.FILES] if request.method == "POST" else []), of=file)

    def change() -> None:
        name_property = form.cleaned_data["name_property"]
        files.change(request.user, file, form.facts(), form.content(), name_property=name_property)

    if submitted(request, form, change):
        messages.success(request, f"{form.cleaned_data['title']} is changed.")
        return redirect("districts", slug=dataset.slug)
    context = {"section": "datasets", "dataset": dataset, "file": file, "form": form}
    return render(request, "dataset/districts/change.html", context, status=422 if form.errors else 200)


@require_http_methods(FORM_METHODS)
def delete(request: PersonRequest, slug: str, file_id: UUID) -> HttpResponse:
    """Deletes a file; GET asks once more."""
    dataset = dataset_for(request.user, slug, Act.KEEP_DISTRICTS)
    file = files.file_of(dataset, file_id)
    if request.method != "POST":
        context = {"section": "datasets", "dataset": dataset, "file": file}
        return render(request, "dataset/districts/delete.html", context)
    files.delete(request.user, file)
    messages.success(request, f"{file.title} is deleted.")
    return redirect("districts", slug=dataset.slug)


@open_if_public
@require_safe
def release_districts(request: PersonRequest, release_id: UUID, file_id: UUID) -> HttpResponse:
    """Serves a district file as GeoJSON, for those who may see the map."""
    release = queries.published_for(request.user, release_id)
    file = files.file_of(release.dataset, file_id)
    return HttpResponse(files.geojson_of(file), content_type=GEOJSON)


@open_if_public
@require_safe
def release_district_sums(request: PersonRequest, release_id: UUID, file_id: UUID) -> HttpResponse:
    """Serves people in the districts of a file, as CSV."""
    release = queries.published_for(request.user, release_id)
    file = files.file_of(release.dataset, file_id)
    stream = io.BytesIO()
    try:
        sums = district_sums.sums_of_file(release, file)
    except ParameterError as refusal:
        raise Http404("this map states no errors of sums") from refusal
    district_sums.write_csv(sums, stream)
    answer = HttpResponse(stream.getvalue(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = content_disposition_header(
        True, f"{release.dataset.slug}-{file.title}.csv"
    )
    return answer


def panel_file(release: Release, file: DistrictFile) -> dict[str, str]:
    """Says, for the panel of the map, what a district file is, and where its polygons are."""
    address = reverse("release-districts", args=[release.pk, file.pk])
    return {"title": file.title, "source": file.source, "licence": file.licence, "address": address}


def districts_beside(request: PersonRequest, release: Release) -> dict[str, Any]:
    """Returns people in the districts of the file that the address names, or of the first one.

    Empty without files, and where a method does not say how far sums may be off.
    """
    district_files = list(files.files_of(release.dataset)) if district_sums.has_sums(release) else []
    if not district_files:
        return {}
    file = next(
        (row for row in district_files if str(row.pk) == request.GET.get("districts")), district_files[0]
    )
    context = {"files": district_files, "file": file}
    try:
        sums = district_sums.sums_of_file(release, file)
    except ParameterError:
        return {}
    except (Busy, NotRendered) as refusal:  # the rest of the page is there all the same
        return context | {"problem": refusal}
    rows = district_sums.rows_for_people(sums)
    return context | {"sums": sums, "rows": rows[:SHOWN], "total": len(rows)}
