"""Data versions made by a steward; their rules changed: the schedule, and how long check-ins are kept."""

from dataclasses import asdict

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from heatmaps.access import Act, dataset_for
from heatmaps.ingest import retaining, scheduling, uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.models import Dataset
from heatmaps.retention import words
from heatmaps.schedules import Schedule
from heatmaps.views.forms.retention import RetentionForm
from heatmaps.views.forms.schedule import ScheduleForm
from heatmaps.views.forms.shared import explain
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError


@require_POST
def new_version(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug, Act.UPLOAD)
    try:
        version = uploads.advance(request.user, found)
    except UploadError as refusal:
        messages.error(request, f"No version was made: {refusal}.")
    else:
        messages.success(request, f"Version {version.number} is there: releases from now on read it.")
    return redirect("dataset", slug=found.slug)


@require_http_methods(["GET", "HEAD", "POST"])
def schedule(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug, Act.UPLOAD)
    now = Schedule.parse(found.schedule)
    form = ScheduleForm(request.POST or None, initial=_typed(now))
    if request.method == "POST" and form.is_valid() and _changed(request, found, form):
        messages.success(request, "The schedule of data versions is set.")
        return redirect("dataset", slug=found.slug)
    context = {"section": "datasets", "dataset": found, "form": form, "now": now}
    return render(request, "datasets/schedule.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def retention(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug, Act.UPLOAD)
    now = words(found.retention_days)
    form = RetentionForm(request.POST or None, initial={"retention_days": found.retention_days})
    if request.method == "POST" and form.is_valid() and _kept(request, found, form):
        messages.success(request, "Noted: it counts from the next data version on.")
        return redirect("dataset", slug=found.slug)
    context = {"section": "datasets", "dataset": found, "form": form, "now": now}
    return render(request, "datasets/retention.html", context, status=422 if form.errors else 200)


def _kept(request: PersonRequest, found: Dataset, form: RetentionForm) -> bool:
    typed = form.cleaned_data
    try:
        retaining.change(request.user, found, typed["retention_days"], reason=typed["reason"])
    except ParameterError as error:
        explain(form, error, {})
        return False
    return True


def _changed(request: PersonRequest, found: Dataset, form: ScheduleForm) -> bool:
    try:
        scheduling.change(request.user, found, form.schedule, reason=form.cleaned_data["reason"])
    except ParameterError as error:
        explain(form, error, {})
        return False
    return True


def _typed(now: Schedule | None) -> dict[str, object]:
    return {name: value for name, value in asdict(now).items() if value is not None} if now else {}
