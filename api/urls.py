"""Routes the API's addresses."""

from django.contrib.auth.decorators import login_not_required
from django.urls import path, re_path

from api.views import (
    administrator_reads,
    allowances,
    blurred,
    budget,
    collections,
    datasets,
    districts,
    docs,
    guides,
    ledger,
    mechanisms,
    members,
    opt_outs,
    plans,
    releases,
    restorations,
    shuffler,
    sources,
    tokens,
    uploads,
)
from heatmaps.exports.release_files import PREVIEWS

app_name = "api"
urlpatterns = [
    path("schema/", docs.Schema.as_view(**docs.OPEN), name="schema"),
    path("docs/", login_not_required(docs.Docs.as_view()), name="docs"),
    path("v1/tokens/", tokens.Tokens.as_view(), name="tokens"),
    path("v1/tokens/<slug:token_id>/", tokens.Token.as_view(), name="token"),
    path("v1/mechanisms/", mechanisms.Mechanisms.as_view(), name="mechanisms"),
    path("v1/sources/", sources.Sources.as_view(), name="sources"),
    path("v1/plans/", plans.Plans.as_view(), name="plans"),
    path("v1/datasets/", datasets.Datasets.as_view(), name="datasets"),
    path("v1/datasets/<slug:slug>/", datasets.Dataset.as_view(), name="dataset"),
    path("v1/datasets/<slug:slug>/versions/", datasets.Versions.as_view(), name="versions"),
    path("v1/datasets/<slug:slug>/uploads/", uploads.Uploads.as_view(), name="uploads"),
    path("v1/datasets/<slug:slug>/checkins/", uploads.Checkins.as_view(), name="checkins"),
    path("v1/datasets/<slug:slug>/opt-outs/", opt_outs.OptOuts.as_view(), name="opt-outs"),
    path("v1/datasets/<slug:slug>/blurred/", blurred.Blurred.as_view(), name="blurred"),
    path(
        "v1/datasets/<slug:slug>/opt-outs/take-back/", opt_outs.TakeBack.as_view(), name="opt-out-take-back"
    ),
    path("v1/datasets/<slug:slug>/opt-outs/<uuid:entry>/", opt_outs.OptOut.as_view(), name="opt-out"),
    path("v1/datasets/<slug:slug>/districts/", districts.Districts.as_view(), name="districts"),
    path("v1/datasets/<slug:slug>/districts/<uuid:file_id>/", districts.District.as_view(), name="district"),
    path("v1/datasets/<slug:slug>/guides/", guides.Guides.as_view(), name="guides"),
    path("v1/datasets/<slug:slug>/quotes/", releases.Quotes.as_view(), name="quotes"),
    path("v1/datasets/<slug:slug>/releases/", releases.Releases.as_view(), name="releases"),
    path("v1/datasets/<slug:slug>/rounds/", collections.Rounds.as_view(), name="rounds"),
    path("v1/datasets/<slug:slug>/rounds/quotes/", collections.RoundQuotes.as_view(), name="round-quotes"),
    path(
        "v1/datasets/<slug:slug>/rounds/<int:number>/", collections.RoundOfCollection.as_view(), name="round"
    ),
    path(
        "v1/datasets/<slug:slug>/rounds/<int:number>/cancel/",
        collections.CancelRound.as_view(),
        name="round-cancel",
    ),
    path(
        "v1/datasets/<slug:slug>/shuffler-token/",
        collections.ShufflerToken.as_view(),
        name="shuffler-token",
    ),
    path("v1/device-mechanisms/", collections.DeviceMechanisms.as_view(), name="device-mechanisms"),
    path("v1/shuffler/rounds/", shuffler.ShufflerRounds.as_view(), name="shuffler-rounds"),
    path("v1/shuffler/rounds/<uuid:round_id>/", shuffler.ShufflerRound.as_view(), name="shuffler-round"),
    path(
        "v1/shuffler/rounds/<uuid:round_id>/table.bin",
        shuffler.ShufflerTable.as_view(),
        name="shuffler-table",
    ),
    path(
        "v1/shuffler/rounds/<uuid:round_id>/batch/", shuffler.ShufflerBatch.as_view(), name="shuffler-batch"
    ),
    path("v1/datasets/<slug:slug>/ledger/", ledger.Ledger.as_view(), name="ledger"),
    path("v1/datasets/<slug:slug>/members/", members.Members.as_view(), name="members"),
    path("v1/datasets/<slug:slug>/members/<int:account_id>/", members.Member.as_view(), name="member"),
    path(
        "v1/datasets/<slug:slug>/restoration/",
        restorations.DatasetRestoration.as_view(),
        name="restoration",
    ),
    path("v1/datasets/<slug:slug>/invitations/", members.Invitations.as_view(), name="invitations"),
    path(
        "v1/datasets/<slug:slug>/invitations/<uuid:invitation_id>/",
        members.Invitation.as_view(),
        name="invitation",
    ),
    path(
        "v1/datasets/<slug:slug>/administrator-reads/",
        administrator_reads.AdministratorReads.as_view(),
        name="administrator-reads",
    ),
    path("v1/datasets/<slug:slug>/ledger.<str:suffix>", ledger.LedgerFile.as_view(), name="ledger-file"),
    path("v1/datasets/<slug:slug>/budget/", budget.Budget.as_view(), name="budget"),
    path("v1/datasets/<slug:slug>/allowances/", allowances.Allowances.as_view(), name="allowances"),
    path("v1/datasets/<slug:slug>/spending/", allowances.SpendingOfDataset.as_view(), name="spending"),
    path("v1/uploads/<uuid:upload_id>/", uploads.Upload.as_view(), name="upload"),
    path("v1/uploads/<uuid:upload_id>/rejected.csv", uploads.RejectedRows.as_view(), name="upload-rejected"),
    path("v1/uploads/<uuid:upload_id>/undo/", uploads.UndoUpload.as_view(), name="upload-undo"),
    path("v1/uploads/<uuid:upload_id>/copy/", uploads.CopyAgain.as_view(), name="upload-copy"),
    path("v1/releases/<uuid:release_id>/", releases.Release.as_view(), name="release"),
    path("v1/releases/<uuid:release_id>/name/", releases.ReleaseName.as_view(), name="release-name"),
    path("v1/releases/<uuid:release_id>/cancel/", releases.CancelRelease.as_view(), name="release-cancel"),
    path(
        "v1/releases/<uuid:release_id>/districts/",
        districts.ReleaseDistricts.as_view(),
        name="release-districts",
    ),
    path(
        "v1/releases/<uuid:release_id>/districts/<uuid:file_id>.geojson",
        districts.ReleaseDistrict.as_view(),
        name="release-district",
    ),
    path("v1/releases/<uuid:release_id>/areas/", districts.Areas.as_view(), name="areas"),
    path("v1/releases/<uuid:release_id>/areas.csv", districts.AreasCsv.as_view(), name="areas-csv"),
    *(
        path(
            f"v1/releases/<uuid:release_id>/{name}{suffix}",
            releases.PREVIEWS[name].as_view(),
            name=f"release-{name}",
        )
        for name, (suffix, _) in PREVIEWS.items()
    ),
    *(
        path(f"v1/releases/<uuid:release_id>/{stem}.<str:suffix>", view.as_view(), name=stem)
        for stem, view in releases.FILES.items()
    ),
    re_path("", docs.Nowhere.as_view()),
]
