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
    path("schema/", docs.SchemaView.as_view(**docs.OPEN), name="schema"),
    path("docs/", login_not_required(docs.DocsView.as_view()), name="docs"),
    path("v1/tokens/", tokens.TokensView.as_view(), name="tokens"),
    path("v1/tokens/<slug:token_id>/", tokens.TokenView.as_view(), name="token"),
    path("v1/mechanisms/", mechanisms.MechanismsView.as_view(), name="mechanisms"),
    path("v1/sources/", sources.SourcesView.as_view(), name="sources"),
    path("v1/plans/", plans.PlansView.as_view(), name="plans"),
    path("v1/datasets/", datasets.DatasetsView.as_view(), name="datasets"),
    path("v1/datasets/<slug:slug>/", datasets.DatasetView.as_view(), name="dataset"),
    path("v1/datasets/<slug:slug>/versions/", datasets.VersionsView.as_view(), name="versions"),
    path("v1/datasets/<slug:slug>/uploads/", uploads.UploadsView.as_view(), name="uploads"),
    path("v1/datasets/<slug:slug>/checkins/", uploads.CheckinsView.as_view(), name="checkins"),
    path("v1/datasets/<slug:slug>/opt-outs/", opt_outs.OptOutsView.as_view(), name="opt-outs"),
    path("v1/datasets/<slug:slug>/blurred/", blurred.BlurredView.as_view(), name="blurred"),
    path(
        "v1/datasets/<slug:slug>/opt-outs/take-back/",
        opt_outs.TakeBackView.as_view(),
        name="opt-out-take-back",
    ),
    path("v1/datasets/<slug:slug>/opt-outs/<uuid:entry>/", opt_outs.OptOutView.as_view(), name="opt-out"),
    path("v1/datasets/<slug:slug>/districts/", districts.DistrictsView.as_view(), name="districts"),
    path(
        "v1/datasets/<slug:slug>/districts/<uuid:file_id>/", districts.DistrictView.as_view(), name="district"
    ),
    path("v1/datasets/<slug:slug>/guides/", guides.GuidesView.as_view(), name="guides"),
    path("v1/datasets/<slug:slug>/quotes/", releases.QuotesView.as_view(), name="quotes"),
    path("v1/datasets/<slug:slug>/releases/", releases.ReleasesView.as_view(), name="releases"),
    path("v1/datasets/<slug:slug>/rounds/", collections.RoundsView.as_view(), name="rounds"),
    path(
        "v1/datasets/<slug:slug>/rounds/quotes/", collections.RoundQuotesView.as_view(), name="round-quotes"
    ),
    path(
        "v1/datasets/<slug:slug>/rounds/<int:number>/",
        collections.RoundOfCollectionView.as_view(),
        name="round",
    ),
    path(
        "v1/datasets/<slug:slug>/rounds/<int:number>/cancel/",
        collections.CancelRoundView.as_view(),
        name="round-cancel",
    ),
    path(
        "v1/datasets/<slug:slug>/shuffler-token/",
        collections.ShufflerTokenView.as_view(),
        name="shuffler-token",
    ),
    path("v1/device-mechanisms/", collections.DeviceMechanismsView.as_view(), name="device-mechanisms"),
    path("v1/shuffler/rounds/", shuffler.ShufflerRoundsView.as_view(), name="shuffler-rounds"),
    path("v1/shuffler/rounds/<uuid:round_id>/", shuffler.ShufflerRoundView.as_view(), name="shuffler-round"),
    path(
        "v1/shuffler/rounds/<uuid:round_id>/table.bin",
        shuffler.ShufflerTableView.as_view(),
        name="shuffler-table",
    ),
    path(
        "v1/shuffler/rounds/<uuid:round_id>/batch/",
        shuffler.ShufflerBatchView.as_view(),
        name="shuffler-batch",
    ),
    path("v1/datasets/<slug:slug>/ledger/", ledger.LedgerView.as_view(), name="ledger"),
    path("v1/datasets/<slug:slug>/members/", members.MembersView.as_view(), name="members"),
    path("v1/datasets/<slug:slug>/members/<int:account_id>/", members.MemberView.as_view(), name="member"),
    path(
        "v1/datasets/<slug:slug>/restoration/",
        restorations.DatasetRestorationView.as_view(),
        name="restoration",
    ),
    path("v1/datasets/<slug:slug>/invitations/", members.InvitationsView.as_view(), name="invitations"),
    path(
        "v1/datasets/<slug:slug>/invitations/<uuid:invitation_id>/",
        members.InvitationView.as_view(),
        name="invitation",
    ),
    path(
        "v1/datasets/<slug:slug>/administrator-reads/",
        administrator_reads.AdministratorReadsView.as_view(),
        name="administrator-reads",
    ),
    path("v1/datasets/<slug:slug>/ledger.<str:suffix>", ledger.LedgerFileView.as_view(), name="ledger-file"),
    path("v1/datasets/<slug:slug>/budget/", budget.BudgetView.as_view(), name="budget"),
    path("v1/datasets/<slug:slug>/allowances/", allowances.AllowancesView.as_view(), name="allowances"),
    path("v1/datasets/<slug:slug>/spending/", allowances.SpendingOfDatasetView.as_view(), name="spending"),
    path("v1/uploads/<uuid:upload_id>/", uploads.UploadView.as_view(), name="upload"),
    path(
        "v1/uploads/<uuid:upload_id>/rejected.csv", uploads.RejectedRowsView.as_view(), name="upload-rejected"
    ),
    path("v1/uploads/<uuid:upload_id>/undo/", uploads.UndoUploadView.as_view(), name="upload-undo"),
    path("v1/uploads/<uuid:upload_id>/copy/", uploads.CopyAgainView.as_view(), name="upload-copy"),
    path("v1/releases/<uuid:release_id>/", releases.ReleaseView.as_view(), name="release"),
    path("v1/releases/<uuid:release_id>/name/", releases.ReleaseNameView.as_view(), name="release-name"),
    path(
        "v1/releases/<uuid:release_id>/cancel/", releases.CancelReleaseView.as_view(), name="release-cancel"
    ),
    path(
        "v1/releases/<uuid:release_id>/districts/",
        districts.ReleaseDistrictsView.as_view(),
        name="release-districts",
    ),
    path(
        "v1/releases/<uuid:release_id>/districts/<uuid:file_id>.geojson",
        districts.ReleaseDistrictView.as_view(),
        name="release-district",
    ),
    path("v1/releases/<uuid:release_id>/areas/", districts.AreasView.as_view(), name="areas"),
    path("v1/releases/<uuid:release_id>/areas.csv", districts.AreasCsvView.as_view(), name="areas-csv"),
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
    re_path("", docs.NowhereView.as_view()),
]
