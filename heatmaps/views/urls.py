"""Addresses of the pages."""

from django.contrib.auth.decorators import login_not_required
from django.templatetags.static import static
from django.urls import path
from django.views.generic import RedirectView

from heatmaps.views import (
    datasets,
    downloads,
    ledger,
    new_dataset,
    new_release,
    opt_outs,
    people,
    releases,
    uploads,
    words,
)

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="datasets"), name="home"),
    path("favicon.ico", login_not_required(RedirectView.as_view(url=static("hazemap/favicon.svg")))),
    path("sign-in/", people.SignIn.as_view(), name="sign-in"),
    path("sign-out/", people.SignOut.as_view(), name="sign-out"),
    path("help/", words.help_page, name="help"),
    path("places/", words.places, name="places"),
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/new/", new_dataset.new_dataset, name="dataset-new"),
    path("datasets/<slug:slug>/", datasets.dataset, name="dataset"),
    path("datasets/<slug:slug>/versions/", datasets.new_version, name="version-new"),
    path("datasets/<slug:slug>/uploads/", uploads.new_upload, name="upload-new"),
    path("datasets/<slug:slug>/uploads/preview/", uploads.preview_upload, name="upload-preview"),
    path("datasets/<slug:slug>/opt-outs/", opt_outs.opt_out, name="opt-out"),
    path("datasets/<slug:slug>/releases/new/", new_release.new_release, name="release-new"),
    path("datasets/<slug:slug>/ledger/", ledger.ledger, name="ledger"),
    path("datasets/<slug:slug>/limits/<slug:kind>/", ledger.limit_change, name="limit-change"),
    path("uploads/<uuid:upload_id>/", uploads.upload, name="upload"),
    path("uploads/<uuid:upload_id>/undo/", uploads.undo, name="upload-undo"),
    path("uploads/<uuid:upload_id>/rejected.csv", uploads.rejected_rows, name="upload-rejected"),
    path("releases/<uuid:release_id>/", releases.release, name="release"),
    path("releases/<uuid:release_id>/state/", releases.release_state, name="release-state"),
    path("releases/<uuid:release_id>/cancel/", releases.cancel, name="release-cancel"),
    path("releases/<uuid:release_id>/map/", releases.release_map, name="release-map"),
    path("releases/<uuid:release_id>/sheet/", downloads.sheet, name="release-sheet"),
    path("releases/<uuid:release_id>/heatmap.<str:suffix>", downloads.download, name="release-download"),
]
