"""Routes the addresses of pages."""

from django.contrib.auth.decorators import login_not_required
from django.templatetags.static import static
from django.urls import path
from django.views.generic import RedirectView

from heatmaps.exports.release_files import PREVIEWS
from heatmaps.views import basemap, home, map_scripts, places
from heatmaps.views.account import account
from heatmaps.views.account.sign_in_provider import with_provider_button
from heatmaps.views.budget import allowances, budget, ledger, limits, spending
from heatmaps.views.collections import rounds
from heatmaps.views.dataset import (
    blur,
    datasets,
    districts,
    embedding,
    guides,
    map_tab,
    new_dataset,
    opt_outs,
    restorations,
    uploads,
    versions,
)
from heatmaps.views.dataset import data as dataset_data
from heatmaps.views.help import manual, words
from heatmaps.views.people import accounts, invitations, members
from heatmaps.views.releases import (
    comparison,
    downloads,
    example_map,
    names,
    new_release,
    public,
    release_list,
)
from heatmaps.views.releases import release as releases

urlpatterns = [
    path("", home.home, name="home"),
    path("favicon.ico", login_not_required(RedirectView.as_view(url=static("hazemap/favicon.svg")))),
    path("account/", account.account, name="account"),
    path("account/tokens/", account.new_token, name="token-new"),
    path("account/tokens/<slug:token_id>/revoke/", account.revoke_token, name="token-revoke"),
    path("invitations/<str:secret>/", with_provider_button(invitations.invitation), name="invitation"),
    path("people/", accounts.listed, name="accounts"),
    path("people/invitations/", accounts.invite, name="account-invite"),
    path(
        "people/invitations/<uuid:invitation_id>/revoke/",
        accounts.revoke_invitation,
        name="account-invitation-revoke",
    ),
    path("people/second-factor/", accounts.second_factor_rule, name="second-factor-rule"),
    path("people/sign-up/", accounts.sign_up_rule, name="sign-up-rule"),
    path("people/<int:account_id>/", accounts.account, name="account-of"),
    path("people/<int:account_id>/password/", accounts.reset_password, name="account-reset"),
    *(
        path(f"people/<int:account_id>/{act}/", accounts.change, {"act": act}, name=f"account-{act}")
        for act in accounts.CHANGES
    ),
    path("public/", public.public_maps, name="public"),
    path("help/", words.help_page, name="help"),
    path("help/mechanisms/", manual.measurements, name="help-mechanisms"),
    path("help/mechanisms/<slug:anchor>/", manual.measurements, name="help-measurement"),
    path("help/manual/", manual.manual, name="manual"),
    path("help/manual/<path:path>", manual.manual, name="manual-page"),
    path("help/<slug:name>/", words.help_topic, name="help-topic"),
    path("places/", places.places, name="places"),
    path("places/search/", places.place_search, name="place-search"),
    path("ground/", words.ground, name="ground"),
    path("scripts/<str:name>", map_scripts.map_script, name="map-script"),
    path("basemap/city.pmtiles", basemap.archive, name="basemap"),
    path("basemap/<int:zoom>/<int:x>/<int:y>", basemap.tile, name="basemap-tile"),
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/new/", new_dataset.new_dataset, name="dataset-new"),
    path("datasets/<slug:slug>/", map_tab.map_tab, name="dataset"),
    path("datasets/<slug:slug>/releases/", release_list.releases_tab, name="dataset-releases"),
    path("datasets/<slug:slug>/data/", dataset_data.data_tab, name="dataset-data"),
    path("datasets/<slug:slug>/rounds/", rounds.rounds_tab, name="dataset-rounds"),
    path("datasets/<slug:slug>/rounds/<int:number>/cancel/", rounds.cancel, name="round-cancel"),
    path("datasets/<slug:slug>/shuffler-token/", rounds.new_token, name="shuffler-token"),
    path("rounds/<uuid:round_id>/facts.json", rounds.facts, name="round-facts"),
    path("datasets/<slug:slug>/budget/", budget.budget_tab, name="dataset-budget"),
    path("datasets/<slug:slug>/versions/", versions.new_version, name="version-new"),
    path("datasets/<slug:slug>/schedule/", versions.schedule, name="schedule"),
    path("datasets/<slug:slug>/retention/", versions.retention, name="retention"),
    path("datasets/<slug:slug>/embedding/", embedding.embedding, name="embedding"),
    path("datasets/<slug:slug>/uploads/found/", dataset_data.find_uploads, name="uploads-found"),
    path("datasets/<slug:slug>/uploads/", uploads.new_upload, name="upload-new"),
    path("datasets/<slug:slug>/uploads/preview/", uploads.preview_upload, name="upload-preview"),
    path("datasets/<slug:slug>/opt-outs/", opt_outs.opt_out, name="opt-out"),
    path("datasets/<slug:slug>/opt-outs/<uuid:entry>/", opt_outs.take_back, name="opt-out-take-back"),
    path("datasets/<slug:slug>/releases/new/", new_release.new_release, name="release-new"),
    path("datasets/<slug:slug>/releases/example.png", example_map.example_picture, name="release-example"),
    *(
        path(
            f"datasets/<slug:slug>/releases/{kind}/",
            new_release.new_release,
            {"kinds": (kind,)},
            f"release-{kind}",
        )
        for kind in ("zones", "distances")
    ),
    path("datasets/<slug:slug>/blur/", blur.blur, name="blur"),
    path("datasets/<slug:slug>/districts/", districts.districts, name="districts"),
    path("datasets/<slug:slug>/districts/<uuid:file_id>/", districts.district_file, name="district-file"),
    path(
        "datasets/<slug:slug>/districts/<uuid:file_id>/delete/",
        districts.delete,
        name="district-file-delete",
    ),
    path("datasets/<slug:slug>/guides/", guides.guides, name="guides"),
    path("datasets/<slug:slug>/restoration/", restorations.restoration, name="restoration"),
    path("datasets/<slug:slug>/people/", members.people, name="people"),
    path("datasets/<slug:slug>/people/add/", members.add, name="member-add"),
    path("datasets/<slug:slug>/people/<int:account_id>/role/", members.role, name="member-role"),
    path("datasets/<slug:slug>/people/<int:account_id>/remove/", members.remove, name="member-remove"),
    path("datasets/<slug:slug>/invitations/", members.invite, name="invitation-new"),
    path(
        "datasets/<slug:slug>/invitations/<uuid:invitation_id>/revoke/",
        members.revoke_invitation,
        name="invitation-revoke",
    ),
    path("datasets/<slug:slug>/ledger/", ledger.ledger, name="ledger"),
    path("datasets/<slug:slug>/ledger.<str:suffix>", ledger.ledger_file, name="ledger-file"),
    path("datasets/<slug:slug>/limits/<slug:kind>/", limits.limit_change, name="limit-change"),
    path("datasets/<slug:slug>/allowances/", allowances.allowances_page, name="allowances"),
    path("datasets/<slug:slug>/spending/", spending.spending_page, name="spending"),
    path("uploads/<uuid:upload_id>/", uploads.upload, name="upload"),
    path("uploads/<uuid:upload_id>/undo/", uploads.undo, name="upload-undo"),
    path("uploads/<uuid:upload_id>/copy/", uploads.copy_again, name="upload-copy"),
    path("uploads/<uuid:upload_id>/rejected.csv", uploads.rejected_rows, name="upload-rejected"),
    path("releases/<uuid:release_id>/", releases.release, name="release"),
    path("releases/<uuid:release_id>/state/", releases.release_state, name="release-state"),
    path("releases/<uuid:release_id>/cancel/", releases.cancel, name="release-cancel"),
    path("releases/<uuid:release_id>/name/", names.release_name, name="release-name"),
    path("releases/<uuid:release_id>/publication/", public.release_publication, name="release-publication"),
    path("releases/<uuid:release_id>/map/", releases.release_map, name="release-map"),
    path("embed/<uuid:release_id>/", embedding.embed, name="embed"),
    path("releases/<uuid:release_id>/compare/", comparison.comparable, name="release-comparable"),
    path(
        "releases/<uuid:release_id>/compare/<uuid:other_id>/",
        comparison.comparison,
        name="release-comparison",
    ),
    path(
        "releases/<uuid:release_id>/compare/<uuid:other_id>/map/",
        comparison.comparison_map,
        name="release-comparison-map",
    ),
    path("releases/<uuid:release_id>/sheet/", downloads.sheet, name="release-sheet"),
    *(
        path(
            f"releases/<uuid:release_id>/{name}{suffix}",
            downloads.preview,
            {"name": name},
            f"release-{name}",
        )
        for name, (suffix, _) in PREVIEWS.items()
    ),
    path("releases/<uuid:release_id>/heatmap.<str:suffix>", downloads.download, name="release-download"),
    path(
        "releases/<uuid:release_id>/districts/<uuid:file_id>.geojson",
        districts.release_districts,
        name="release-districts",
    ),
    path(
        "releases/<uuid:release_id>/districts/<uuid:file_id>.csv",
        districts.release_district_sums,
        name="release-district-sums",
    ),
]
