"""Shows the page that creates a dataset."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps import sources
from heatmaps.datasets import create
from heatmaps.origins import of_name
from heatmaps.origins.lake import LAKE
from heatmaps.people.permissions import is_administrator, require_creator
from heatmaps.sources.sources_file import SourcesFileError
from heatmaps.views.basemap import with_streets
from heatmaps.views.dataset.forms.dataset import DatasetForm
from heatmaps.views.fields import explain
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError


@with_streets
@require_http_methods(["GET", "HEAD", "POST"])
def new_dataset(request: PersonRequest) -> HttpResponse:
    creator = require_creator(request.user)
    lakes, lakes_refusal = _lakes(request)
    asks_for_more = request.POST.get("act") == "more"
    if asks_for_more:
        form = DatasetForm.unsent(request.POST, lakes)
    elif request.method == "POST":
        form = DatasetForm(request.POST, lakes=lakes)
    else:
        form = DatasetForm(lakes=lakes, initial=_origin(request, lakes))
    form.analyser_url = f"{request.scheme}://{request.get_host()}"
    if request.method == "POST" and form.is_valid():
        try:
            dataset = create(creator, form.new)
            tab = dataset.origin.tab
            return redirect("dataset-data" if tab is None else tab.address, slug=dataset.slug)
        except ParameterError as error:  # somebody was faster with the same address
            explain(form, error, {})
    more = asks_for_more or form.needs_more or "more" in (request.GET | request.POST)
    context = {"section": "datasets", "form": form, "more": more, "lakes_refusal": lakes_refusal}
    return render(request, "dataset/new.html", context, status=422 if form.errors else 200)


def _lakes(request: PersonRequest) -> tuple[list[str], str]:
    """Names the tables that can be read; without them, says why there are none, where that is a fault."""
    try:
        return list(sources.offered(request.user)), ""
    except SourcesFileError as error:
        return [], error.text_for(administrator=is_administrator(request.user))


def _origin(request: PersonRequest, lakes: list[str]) -> dict[str, str]:
    """Returns the origin of check-ins that the address names."""
    named = request.GET.get("source", "")
    origin = of_name(named)
    return {"source": origin.name} if origin is not LAKE or lakes else {}
