"""The page that makes a dataset."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps.access import MAY_NOT_CREATE, may_create_datasets
from heatmaps.datasets import create
from heatmaps.views.forms.dataset import DatasetForm
from heatmaps.views.forms.shared import explain
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError


@require_http_methods(["GET", "HEAD", "POST"])
def new_dataset(request: PersonRequest) -> HttpResponse:
    if not may_create_datasets(request.user):
        raise PermissionDenied(MAY_NOT_CREATE)
    form = DatasetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("dataset", slug=create(request.user, form.new).slug)
        except ParameterError as error:  # somebody was faster with the same address
            explain(form, error, {})
    context = {"section": "datasets", "form": form}
    return render(request, "datasets/new.html", context, status=422 if form.errors else 200)
