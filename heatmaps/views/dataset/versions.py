"""Advances data versions for stewards and changes their schedule and retention."""

from dataclasses import asdict

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.versions import retention_change, scheduled
from heatmaps.ingest.versions.retention import words
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.models import DataVersion
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.views.dataset.forms.retention import RetentionForm
from heatmaps.views.dataset.forms.schedule import ScheduleForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted


@require_POST
def new_version(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    try:
        version = dataset.origin.advance(request.user, dataset)
        if isinstance(version, DataVersion):  # of a survey the page itself says how far it is
            messages.success(request, f"Version {version.number} is ready: new releases read it.")
    except UploadError as refusal:
        messages.error(request, f"No version was made: {refusal}.")
    return redirect("dataset-data", slug=dataset.slug)


@require_http_methods(["GET", "HEAD", "POST"])
def schedule(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    now = Schedule.parse(dataset.schedule)
    initial = {name: value for name, value in asdict(now).items() if value is not None} if now else {}
    form = ScheduleForm(request.POST or None, initial=initial)

    def change() -> None:
        scheduled.change(request.user, dataset, form.schedule, reason=form.cleaned_data["reason"])

    if submitted(request, form, change):
        messages.success(request, "The schedule of data versions is set.")
        return redirect("dataset-data", slug=dataset.slug)
    context = {"section": "datasets", "dataset": dataset, "form": form, "now": now}
    return render(request, "dataset/schedule.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def retention(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    days = dataset.retention_days
    now = words(days) if days else dataset.origin.words.retention.without_rule
    form = RetentionForm(request.POST or None, initial={"retention_days": days})
    form.word_for(dataset.origin)

    def change() -> None:
        typed = form.cleaned_data
        retention_change.change(request.user, dataset, typed["retention_days"], reason=typed["reason"])

    if submitted(request, form, change):
        messages.success(request, "Saved: it takes effect with the next data version.")
        return redirect("dataset-data", slug=dataset.slug)
    context = {"section": "datasets", "dataset": dataset, "form": form, "now": now}
    return render(request, "dataset/retention.html", context, status=422 if form.errors else 200)
