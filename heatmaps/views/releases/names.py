"""Changes the name and the note of a release."""

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps import queries
from heatmaps.models import Release
from heatmaps.people.permissions import Act, may, require
from heatmaps.releases import names
from heatmaps.views.releases.forms.name import NameForm, RenameForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted
from heatmaps.wording.release_line import line_for, made_title


@require_http_methods(["GET", "HEAD", "POST"])
def release_name(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """Shows what a release is called on GET; POST calls it something else."""
    release = queries.release_for(request.user, release_id)
    require(request.user, release.dataset, Act.RELEASE)
    if not names.may_rename(request.user, release):
        raise PermissionDenied("a release is named by the person who asked for it and by stewards")
    form = _form(request, release)

    def change() -> None:
        with transaction.atomic():
            _change(request, release, form)

    if submitted(request, form, change):
        messages.success(request, "Saved.")
        return redirect("release", release_id=release.pk)
    context = {
        "section": "datasets",
        "release": release,
        "dataset": release.dataset,
        "line": line_for(request.user, release),
        "form": form,
        "made_title": made_title(release),
    }
    return render(request, "releases/name.html", context, status=422 if form.errors else 200)


def _form(request: PersonRequest, release: Release) -> NameForm:
    """Makes the form, with the choice of readers where the release is public and a steward asks."""
    data = request.POST if request.method == "POST" else None
    now = {"name": release.name, "note": release.note, "public": release.is_name_public}
    shows = release.is_public and may(request.user, release.dataset, Act.PUBLISH)
    return (RenameForm if shows else NameForm)(data, initial=now)


def _change(request: PersonRequest, release: Release, form: NameForm) -> None:
    label = form.label()
    names.rename(request.user, release, label)
    if form.cleaned_data.get("public"):
        names.show(request.user, release, label)
    elif isinstance(form, RenameForm):
        names.hide(request.user, release)
