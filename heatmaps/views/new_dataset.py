"""Shows the page that creates a dataset."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps.datasets import create
from heatmaps.people.permissions import MAY_NOT_CREATE, may_create_datasets
from heatmaps.views.basemap import with_streets
from heatmaps.views.forms.dataset import DatasetForm
from heatmaps.views.forms.shared import explain
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError


@with_streets
@require_http_methods(["GET", "HEAD", "POST"])
def new_dataset(request: PersonRequest) -> HttpResponse:
    if not may_create_datasets(request.user):
        raise PermissionDenied(MAY_NOT_CREATE)
    asks_for_more = request.POST.get("act") == "more"
    form = DatasetForm.unsent(request.POST) if asks_for_more else DatasetForm(request.POST or None)
    if request.GET.get("source") == "devices" and request.method != "POST":
        form = DatasetForm(initial={"source": "devices"})
    form.analyser_url = f"{request.scheme}://{request.get_host()}"
    if request.method == "POST" and form.is_valid():
        try:
            made = create(request.user, form.new)
            return redirect("dataset-rounds" if made.is_collection else "dataset-data", slug=made.slug)
        except ParameterError as error:  # somebody was faster with the same address
            explain(form, error, {})
    more = asks_for_more or form.needs_more or "more" in (request.GET | request.POST)
    context = {"section": "datasets", "form": form, "more": more}
    return render(request, "datasets/new.html", context, status=422 if form.errors else 200)
