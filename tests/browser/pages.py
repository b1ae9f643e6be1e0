"""Every page of the product: by the name of its address, who looks at it, and what he does there."""

from dataclasses import dataclass, field

from django.urls import reverse

from heatmaps.views.help.words import TOPICS
from heatmaps.views.people.accounts import CHANGES
from heatmaps.views.releases.new_release import FOLDS

# Names of addresses that answer no page on GET: acts, and what is not HTML.
ACTS = {
    *("account_logout", "version-new", "upload-new", "upload-undo", "opt-out", "release-cancel"),
    *("member-add", "invitation-new", "invitation-revoke"),
    *("account-invite", "account-invitation-revoke", "sign-up-rule", "second-factor-rule"),
    *("opt-out-take-back", "upload-copy", "round-cancel"),
}
NO_HTML = {
    "ledger-file",
    # What `make docs` built; tests/manual/test_site.py looks at it.
    "manual",
    "manual-page",
    "basemap",
    "basemap-tile",
    "ground",
    "help-measurement",  # leads to a page of the manual
    "map-script",
    "places",
    "place-search",
    "upload",
    "upload-preview",
    "upload-rejected",
    "release-state",
    "release-download",
    "release-districts",
    "release-district-sums",
    "release-thumbnail",
    "release-og-image",
    "release-example",
    "round-facts",
}
# Pages of a server with a sign-in provider: `test_sign_in_provider.py` beside this file looks at them.
WITH_PROVIDER = {
    *("sign-in-provider", "sign-in-provider-answer", "sign-in-provider-name", "sign-in-provider-invitation"),
    *("account-provider", "account-provider-confirm", "account-provider-remove"),
    "account-confirm-provider",
}
# Pages at an address with a name: `test_passkeys.py` looks at them.
WITH_PASSKEYS = {
    *("mfa_login_webauthn", "mfa_reauthenticate_webauthn", "mfa_list_webauthn", "mfa_add_webauthn"),
    *("mfa_edit_webauthn", "mfa_remove_webauthn"),
}


@dataclass(frozen=True, kw_only=True)
class Page:
    """`submits`: which of its forms is sent, with `fills` and else as it is; the answer is looked at."""

    name: str
    who: str
    address: str
    submits: str = ""
    fills: dict = field(default_factory=dict)


def pages(named):
    """Every page of an installation that `tests.browser.populate` filled; `named` are its addresses."""

    def page(name, who, *arguments, query="", at="", **options):
        """`at`: the page whose form leads to the one of that name."""
        given = [named[one] for one in arguments]
        if at:
            options["submits"] = form(name, arguments)
        return Page(name=name, who=who, address=reverse(at or name, args=given) + query, **options)

    def form(name, arguments=()):
        return f"form[action='{reverse(name, args=[named[one] for one in arguments])}']"

    wrong, costly, fair = (f"?mechanism=laplace&epsilon={epsilon}&resolution=256" for epsilon in (30, 15, 1))
    started = f"?mechanism=adaptive&resolution=16&guide={named['guided']}"
    own = "main form[method=post]"
    return [
        page("account_login", "anonymous"),
        page("account_login", "anonymous", submits=own),
        page("help", "anonymous"),
        *(
            Page(name="help-topic", who="anonymous", address=reverse("help-topic", args=[topic.name]))
            for topic in TOPICS
        ),
        page("help-mechanisms", "analyst"),
        *(page("home", who) for who in ("steward", "analyst", "auditor", "administrator")),
        page("datasets", "steward"),
        page("datasets", "administrator"),
        page("dataset-new", "steward"),
        page("dataset-new", "steward", query="?more=1"),
        page("dataset-new", "steward", submits=own),
        page("dataset", "steward", "dataset"),
        page("dataset", "analyst", "dataset"),
        page("dataset", "auditor", "dataset"),
        page("dataset", "steward", "panel"),
        page("dataset-releases", "analyst", "dataset"),
        page("dataset-data", "steward", "dataset"),
        page("dataset-data", "auditor", "dataset"),
        page("dataset-budget", "steward", "dataset"),
        page("dataset-budget", "analyst", "panel"),
        page("release-new", "analyst", "dataset"),
        page("release-new", "analyst", "dataset", query=wrong),
        page("release-new", "analyst", "dataset", query=costly),
        page("release-new", "analyst", "dataset", query=fair),
        page("release-new", "steward", "panel"),
        *(page("release-new", "steward", "panel", query=f"?open={fold}") for fold in FOLDS),
        page("release-new", "analyst", "town", query="?mechanism=adaptive&resolution=16&epsilon=5"),
        *(
            page("release-new", "analyst", "town", query=f"{started}&proposed=none&{asked}")
            for asked in ("epsilon=5", "epsilon=0.5", "epsilon=1&error_m=20000")
        ),
        page("release-zones", "steward", "panel"),
        page("release-distances", "steward", "panel"),
        page("ledger", "auditor", "dataset"),
        page("ledger", "steward", "dataset", query="?filter=1"),
        page("blur", "steward", "dataset"),
        page("blur", "steward", "dataset", submits=own),
        page("schedule", "steward", "dataset"),
        page("schedule", "steward", "dataset", submits=own),
        page("districts", "steward", "dataset"),
        page("districts", "auditor", "dataset"),
        page("districts", "steward", "dataset", submits=own),
        page("district-file", "steward", "dataset", "districts"),
        page("district-file-delete", "steward", "dataset", "districts"),
        *(page("dataset-rounds", who, "walks") for who in ("steward", "analyst")),
        page("dataset-rounds", "steward", "walks", submits="#plan"),
        page("shuffler-token", "steward", "walks", at="dataset-rounds"),
        page("guides", "steward", "town"),
        page("guides", "auditor", "dataset"),
        page("guides", "steward", "unfilled"),
        page("guides", "steward", "unfilled", submits=own, fills={"#id_title": "Built-up area"}),
        page("dataset-data", "steward", "unfilled"),
        page("dataset-data", "analyst", "town"),
        page("retention", "steward", "dataset"),
        page("retention", "steward", "dataset", submits=own),
        page(
            "uploads-found",
            "steward",
            "dataset",
            at="dataset-data",
            query="?state=failed",
            fills={"#upload-name": "f"},
        ),
        page("embedding", "steward", "dataset"),
        page("embedding", "steward", "dataset", submits=own),
        page("allowances", "steward", "dataset"),
        page("allowances", "steward", "dataset", submits=own),
        page("spending", "auditor", "dataset"),
        page("limit-change", "steward", "dataset", "kind"),
        page("limit-change", "steward", "panel", "panel-kind", submits=own),
        *(page("release", "analyst", life) for life in ("published", "cancelled", "no_result", "queued")),
        page("release", "steward", "point"),
        page("release-map", "steward", "point"),
        page("release-map", "analyst", "published"),
        page("release-comparable", "analyst", "one"),
        page("release-comparison", "analyst", "one", "other"),
        page("release-comparison-map", "analyst", "one", "other"),
        page("release-sheet", "auditor", "published"),
        page("public", "anonymous"),
        page("release", "anonymous", "published"),
        page("embed", "anonymous", "published"),
        page("release-publication", "steward", "published"),
        *(page("release", "analyst", life) for life in ("guided", "of-file")),
        page("release-sheet", "analyst", "of-file"),
        page("release-publication", "steward", "guided"),
        page("release-publication", "steward", "of-file"),
        page("release-name", "steward", "published"),
        page("release-name", "analyst", "published", submits=own, fills={"#id_name": "\u202e"}),
        page("account", "analyst"),
        page("account", "auditor"),
        page("token-new", "analyst"),
        page("token-new", "analyst", submits=own),
        page("token-new", "steward", submits=own, fills={"#id_name": "laptop"}),
        page("account_change_password", "analyst"),
        page("account_change_password", "secured"),
        page("account_change_password", "secured", submits=own),
        page("account_reauthenticate", "secured"),
        page("account_reauthenticate", "secured", submits=own, fills={"#id_password": "wrong"}),
        page("mfa_reauthenticate", "secured"),
        page("mfa_authenticate", "half-way"),
        page("mfa_authenticate", "half-way", submits=own, fills={"#id_code": "000000"}),
        page("mfa_index", "analyst"),
        page("mfa_index", "secured"),
        page("mfa_activate_totp", "analyst"),
        page("mfa_activate_totp", "analyst", submits=own, fills={"#id_code": "000000"}),
        page("mfa_deactivate_totp", "secured"),
        page("mfa_view_recovery_codes", "secured"),
        page("mfa_view_recovery_codes", "secured"),  # once only they are shown
        page("mfa_generate_recovery_codes", "secured"),
        page("account_reset_password", "anonymous"),
        page("account_reset_password", "anonymous", submits=own),
        page("account_reset_password_done", "anonymous"),
        page("account_email", "secured"),
        page("account_email", "analyst"),
        page("account_confirm_email", "secured", "address"),
        page("account_confirm_email", "analyst", "address"),
        page("token-revoke", "analyst", "token"),
        page("invitation", "anonymous", "invitation"),
        page("invitation", "anonymous", "invitation", submits=own),
        page("invitation", "administrator", "invitation"),
        Page(name="invitation", who="anonymous", address=reverse("invitation", args=["nothing"])),
        page("account_reset_password_from_key", "anonymous", "reset"),
        page("account_reset_password_from_key", "anonymous", "reset", submits=own),
        page("accounts", "administrator"),
        page("accounts", "administrator", submits=form("account-invite")),
        page("account-of", "administrator", "analyst"),
        page("account-of", "administrator", "secured"),
        page("account-reset", "administrator", "secured"),
        page("account-reset", "administrator", "secured", submits=own),
        *(page(f"account-{act}", "administrator", "analyst") for act in CHANGES),
        page("people", "steward", "dataset"),
        page("people", "steward", "dataset", submits=form("member-add", ["dataset"])),
        page("people", "steward", "dataset", submits=form("invitation-new", ["dataset"])),
        page("restoration", "steward", "restored"),
        page("restoration", "steward", "restored", submits=own),
        *(page("dataset", who, "restored") for who in ("steward", "administrator")),
        *(page(name, "steward", "restored") for name in ("dataset-budget", "spending", "ledger")),
        page("release", "steward", "queued"),
        page("member-role", "steward", "dataset", "analyst"),
        page("member-remove", "steward", "dataset", "analyst"),
        page("admin:index", "administrator"),
        page("admin:heatmaps_dataset_changelist", "administrator"),
        page("admin:heatmaps_account_changelist", "administrator"),
        page("admin:heatmaps_release_changelist", "administrator"),
        page("admin:heatmaps_event_changelist", "administrator"),
        page("admin:heatmaps_districtfile_changelist", "administrator"),
        page("admin:heatmaps_guidefile_changelist", "administrator"),
        page("admin:heatmaps_apitoken_changelist", "administrator"),
        page("api:docs", "anonymous"),
        Page(name="403", who="analyst", address=reverse("ledger", args=[named["dataset"]])),
        Page(name="404", who="analyst", address="/nothing/"),
    ]
