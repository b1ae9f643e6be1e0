"""The table of who may open and send what: a row for every page, for six persons.

Put the row of a new page into `PAGES`: for GET and for POST the status that steward, analyst, auditor,
administrator, stranger (an account without a role) and anonymous get, what its address needs (`about`), and
for POST a body that a steward may send. `test_matrix.py` asks every page; the API has its own table, in
tests/api/test_matrix.py.
"""

from dataclasses import dataclass, field
from typing import Any

OK, SENT, FORBIDDEN, NOT_FOUND, NOT_SO, BAD = 200, 302, 403, 404, 405, 422
SIGN_IN = SENT  # where nobody is signed in, a page sends to the one that does it
ALL = (OK,) * 5 + (SIGN_IN,)
OPEN = (OK,) * 6
NEVER = (NOT_SO,) * 5 + (SIGN_IN,)
NOWHERE = (NOT_FOUND,) * 5 + (SIGN_IN,)
MEMBERS = (OK, OK, OK, OK, NOT_FOUND, SIGN_IN)
STEWARDS = (OK, FORBIDDEN, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN)
MAP_PROGRAMS = (OK, OK, OK, OK, NOT_FOUND, 401)
UNCONFIRMED = (OK, NOT_FOUND, NOT_FOUND, FORBIDDEN, NOT_FOUND, SIGN_IN)
MANAGERS = (OK, FORBIDDEN, FORBIDDEN, OK, NOT_FOUND, SIGN_IN)
ADMINISTRATORS = (FORBIDDEN, FORBIDDEN, FORBIDDEN, OK, FORBIDDEN, SIGN_IN)


def sent(row):
    """The same row where success sends to another page."""
    return tuple(SENT if status == OK else status for status in row)


def refused(row):
    """The same row where what is sent is not complete: it is read for those only who may send it."""
    return tuple(BAD if status == OK else status for status in row)


@dataclass(frozen=True, kw_only=True)
class Page:
    GET: tuple = NEVER
    POST: tuple = NEVER
    about: tuple = ()  # names of `things`, or values
    body: Any = field(default_factory=dict)  # of the POST; a function of `things` where it needs them
    query: str = ""


PHRASE = "grass grows by inches"
NEWCOMER = {"username": "newcomer", "password1": PHRASE, "password2": PHRASE}
NEW_LINK_PASSWORD = {"new_password1": PHRASE, "new_password2": PHRASE}
NEW_PASSWORD = {"password1": PHRASE, "password2": PHRASE}
OLD = "stones roll down hills"
NO_SUMS = "release-district-sums"  # of a public release for everybody, but this one states no errors
QUESTION = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": "16"}
BACK_TO_ADMIN = sent(ADMINISTRATORS)
DATASET, RELEASE, UPLOAD, QUEUED = ("slug",), ("release",), ("upload",), ("queued",)
DISTRICTS, CITED = ("slug", "districts"), {"title": "Boroughs", "source": "City of Hazel"}
PAIR = ("release", "=00000000-0000-4000-8000-000000000000")
ON_ACCOUNT = {"GET": ADMINISTRATORS, "POST": sent(ADMINISTRATORS), "about": ("stranger",)}

PAGES = {
    "healthz": Page(GET=(503,) * 6, POST=(NOT_SO,) * 6),  # no worker in these tests
    "home": Page(GET=ALL),
    "favicon.ico": Page(GET=(SENT,) * 6, POST=(SENT,) * 6),
    "help": Page(GET=OPEN, POST=(NOT_SO,) * 6),
    "help-topic": Page(GET=OPEN, POST=(NOT_SO,) * 6, about=("=budget",)),
    "map-script": Page(GET=OPEN, POST=(NOT_SO,) * 6, about=("=released_map.js",)),
    "help-mechanisms": Page(GET=ALL),
    # Everybody's where it is built; in these tests none is.
    "manual": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6),
    "manual-page": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6, about=("=index.html",)),
    "help-measurement": Page(GET=ALL, about=("=which",)),
    "places": Page(GET=ALL, query="?bbox=-98,30,-97,31"),
    "place-search": Page(GET=(NOT_SO,) * 6, POST=OPEN, body={"text": "Austin"}),
    "ground": Page(GET=ALL, query="?bbox=-98,30,-97,31"),
    # No file is set in these tests; with one, everybody may read it (`test_streets.py`).
    "basemap": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6),
    "basemap-tile": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6, about=("=0", "=0", "=0")),
    "public": Page(GET=OPEN, POST=(NOT_SO,) * 6),
    # one's own account
    "account_login": Page(
        GET=(SENT,) * 5 + (OK,), POST=(SENT,) * 5 + (OK,), body={"login": "x", "password": "y"}
    ),
    "mfa_authenticate": Page(GET=(SENT,) * 6, POST=(SENT,) * 6),  # nobody waits for a code here
    # No mail is sent in these tests; with a server for it: tests/people/test_mails.py.
    "account_reset_password": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_FOUND,) * 6),
    "account_reset_password_done": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_FOUND,) * 6),
    "account_email": Page(GET=NOWHERE, POST=NOWHERE),
    "account_confirm_email": Page(GET=NOWHERE, POST=NOWHERE, about=("=key",)),
    "account_logout": Page(GET=(NOT_SO,) * 6, POST=(SENT,) * 6),
    "account": Page(GET=ALL),
    "account_reauthenticate": Page(GET=ALL, POST=sent(ALL), body={"password": OLD}),
    "mfa_reauthenticate": Page(GET=sent(ALL), POST=sent(ALL)),  # nobody has a factor: by password then
    "account_change_password": Page(GET=ALL, POST=sent(ALL), body={"oldpassword": OLD} | NEW_PASSWORD),
    "mfa_index": Page(GET=ALL),
    "mfa_activate_totp": Page(GET=ALL, POST=ALL, body={"code": "no code"}),
    "mfa_deactivate_totp": Page(GET=NOWHERE, POST=NOWHERE),
    "mfa_view_recovery_codes": Page(GET=NOWHERE),
    "mfa_generate_recovery_codes": Page(GET=ALL, POST=ALL),
    "mfa_login_webauthn": Page(GET=(SENT,) * 5 + (FORBIDDEN,), POST=(SENT,) * 6),  # no name in the address
    "mfa_reauthenticate_webauthn": Page(GET=sent(ALL), POST=sent(ALL)),  # nobody has a passkey: by password
    "mfa_list_webauthn": Page(GET=ALL),
    "mfa_add_webauthn": Page(GET=ALL, POST=ALL),
    "mfa_edit_webauthn": Page(GET=NOWHERE, POST=NOWHERE, about=("=1",)),
    "mfa_remove_webauthn": Page(GET=NOWHERE, POST=NOWHERE, about=("=1",)),
    # No provider is set in these tests; with one: tests/people/test_sign_in_provider.py.
    "sign-in-provider": Page(GET=(NOT_SO,) * 6, POST=(NOT_FOUND,) * 6),
    "sign-in-provider-answer": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6),
    "sign-in-provider-name": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_FOUND,) * 6),
    "sign-in-provider-invitation": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6),
    "account-provider": Page(GET=NOWHERE, POST=NOWHERE),
    "account-confirm-provider": Page(GET=NOWHERE, POST=NOWHERE),
    "account-provider-confirm": Page(GET=NOWHERE, POST=NOWHERE),
    "account-provider-remove": Page(GET=NOWHERE, POST=NOWHERE),
    "token-new": Page(GET=ALL, POST=ALL, body={"name": "laptop", "scopes": ["read"], "days": "30"}),
    "token-revoke": Page(
        GET=(OK,) + (NOT_FOUND,) * 4 + (SIGN_IN,),
        POST=(SENT,) + (NOT_FOUND,) * 4 + (SIGN_IN,),
        about=("token",),
    ),
    # the administration: Django's finders of rows are closed
    "admin-autocomplete": Page(GET=NOWHERE, POST=NOWHERE),
    "admin-view-on-site": Page(GET=NOWHERE, POST=NOWHERE, about=("=1/1",)),
    "admin-sign-in": Page(GET=BACK_TO_ADMIN, POST=BACK_TO_ADMIN),
    "admin-password": Page(GET=(SENT,) * 6, POST=(SENT,) * 6),
    # links
    "invitation": Page(
        GET=OPEN, POST=(409, 409, 409, SENT, SENT, SENT), about=("invitation",), body=NEWCOMER
    ),
    "account_reset_password_from_key": Page(
        GET=OPEN, POST=(SENT,) * 6, about=("reset",), body=NEW_LINK_PASSWORD
    ),
    # the installation's people
    "accounts": Page(GET=ADMINISTRATORS),
    "account-invite": Page(POST=ADMINISTRATORS),
    "account-invitation-revoke": Page(POST=sent(ADMINISTRATORS), about=("installation invitation",)),
    "sign-up-rule": Page(POST=sent(ADMINISTRATORS), body={"allowed": "yes"}),
    "account-of": Page(GET=ADMINISTRATORS, about=("stranger",)),
    "account-reset": Page(GET=ADMINISTRATORS, POST=ADMINISTRATORS, about=("stranger",)),
    "account-remove-factor": Page(**ON_ACCOUNT),
    "second-factor-rule": Page(GET=sent(ADMINISTRATORS), POST=sent(ADMINISTRATORS), body={"required": "yes"}),
    "account-close": Page(**ON_ACCOUNT),
    "account-open": Page(**ON_ACCOUNT),
    "account-allow-datasets": Page(**ON_ACCOUNT),
    "account-forbid-datasets": Page(**ON_ACCOUNT),
    "account-make-administrator": Page(**ON_ACCOUNT),
    "account-unmake-administrator": Page(**ON_ACCOUNT),
    # a dataset's people
    "people": Page(GET=MEMBERS, about=DATASET),
    "member-add": Page(
        POST=sent(MANAGERS), about=DATASET, body={"add-username": "stranger", "add-role": "analyst"}
    ),
    "member-role": Page(
        GET=MANAGERS, POST=sent(MANAGERS), about=("slug", "analyst"), body={"role": "auditor"}
    ),
    "member-remove": Page(  # one's own as well
        GET=(OK, OK, FORBIDDEN, OK, NOT_FOUND, SIGN_IN),
        POST=(SENT, SENT, FORBIDDEN, SENT, NOT_FOUND, SIGN_IN),
        about=("slug", "analyst"),
    ),
    "invitation-new": Page(POST=MANAGERS, about=DATASET, body={"invite-role": "analyst"}),
    "invitation-revoke": Page(POST=sent(MANAGERS), about=("slug", "invitation id")),
    # datasets
    "datasets": Page(GET=ALL),
    "dataset-new": Page(GET=ALL, POST=(BAD,) * 5 + (SIGN_IN,), body={"slug": "no address"}),
    "dataset": Page(GET=MEMBERS, about=DATASET),
    "dataset-releases": Page(GET=MEMBERS, about=DATASET),
    "dataset-data": Page(GET=MEMBERS, about=DATASET),
    "dataset-budget": Page(GET=MEMBERS, about=DATASET),
    "version-new": Page(POST=sent(STEWARDS), about=DATASET),
    "upload-new": Page(POST=sent(STEWARDS), about=DATASET),
    "upload-preview": Page(POST=(BAD, FORBIDDEN, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN), about=DATASET),
    "blur": Page(GET=STEWARDS, POST=refused(STEWARDS), about=DATASET),
    "opt-out": Page(POST=sent(STEWARDS), about=DATASET, body={"users": "somebody"}),
    "ledger": Page(GET=(OK, FORBIDDEN, OK, OK, NOT_FOUND, SIGN_IN), about=DATASET),
    "limit-change": Page(
        GET=MANAGERS,
        POST=sent(MANAGERS),
        about=("slug", "=presence"),
        body={"limit": "3", "reason": "agreed", "seen": str(2 * 10**12)},
    ),
    "guides": Page(GET=MEMBERS, POST=refused(STEWARDS), about=DATASET, body={"title": "Built-up area"}),
    "districts": Page(GET=MEMBERS, POST=refused(STEWARDS), about=DATASET, body={"title": "Boroughs"}),
    "district-file": Page(GET=STEWARDS, POST=sent(STEWARDS), about=DISTRICTS, body=CITED),
    "district-file-delete": Page(GET=STEWARDS, POST=sent(STEWARDS), about=DISTRICTS),
    "dataset-rounds": Page(  # of a collection only; those: tests/collections/test_pages.py
        GET=(NOT_FOUND,) * 5 + (SIGN_IN,), POST=(NOT_FOUND,) * 5 + (SIGN_IN,), about=DATASET
    ),
    "round-cancel": Page(POST=(FORBIDDEN,) * 4 + (NOT_FOUND, SIGN_IN), about=("slug", "=1")),
    "shuffler-token": Page(POST=(FORBIDDEN,) * 4 + (NOT_FOUND, SIGN_IN), about=DATASET),
    "round-facts": Page(
        GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6, about=("=00000000-0000-4000-8000-000000000000",)
    ),
    "schedule": Page(GET=STEWARDS, POST=refused(STEWARDS), about=DATASET, body={"reason": ""}),
    "retention": Page(GET=STEWARDS, POST=refused(STEWARDS), about=DATASET, body={"reason": ""}),
    # Of one that nobody confirmed: a member who is no steward is a stranger to it.
    "restoration": Page(
        GET=UNCONFIRMED, POST=sent(UNCONFIRMED), about=("restored",), body={"opt_outs_entered": "yes"}
    ),
    "embedding": Page(GET=STEWARDS, POST=refused(STEWARDS), about=DATASET, body={"reason": ""}),
    "uploads-found": Page(POST=STEWARDS, about=DATASET, body={"name": "checkins"}),
    "opt-out-take-back": Page(POST=sent(STEWARDS), about=("slug", "opt-out")),
    "ledger-file": Page(GET=(OK, FORBIDDEN, OK, OK, NOT_FOUND, SIGN_IN), about=("slug", "=csv")),
    "allowances": Page(GET=MEMBERS, POST=refused(MANAGERS), about=DATASET, body={"reason": ""}),
    "spending": Page(GET=MEMBERS, about=DATASET),
    "upload": Page(GET=STEWARDS, about=UPLOAD),
    "upload-undo": Page(POST=sent(STEWARDS), about=UPLOAD),
    "upload-copy": Page(POST=sent(STEWARDS), about=UPLOAD),
    "upload-rejected": Page(
        GET=(NOT_FOUND, FORBIDDEN, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN), about=UPLOAD
    ),
    # releases: hidden ones; public ones are below
    "release-new": Page(
        GET=(OK, OK, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        POST=(SENT, SENT, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        about=DATASET,
        body=QUESTION,
    ),
    "release-example": Page(
        GET=(OK, OK, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        POST=(NOT_SO,) * 5 + (SIGN_IN,),
        about=DATASET,
        query="?mechanism=adaptive&epsilon=1&resolution=64",
    ),
    "release-zones": Page(  # of the other relation only
        GET=(NOT_FOUND, NOT_FOUND, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        POST=(NOT_FOUND, NOT_FOUND, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        about=DATASET,
    ),
    "release-distances": Page(  # of the other relation only
        GET=(NOT_FOUND, NOT_FOUND, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        POST=(NOT_FOUND, NOT_FOUND, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        about=DATASET,
    ),
    "release": Page(GET=MEMBERS, about=RELEASE),
    "release-state": Page(GET=MEMBERS, about=RELEASE),
    "release-cancel": Page(POST=(FORBIDDEN, SENT, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN), about=RELEASE),
    "release-name": Page(
        GET=(OK, OK, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),  # the analyst asked for it
        POST=(SENT, SENT, FORBIDDEN, FORBIDDEN, NOT_FOUND, SIGN_IN),
        about=RELEASE,
        body={"name": "Nights"},
    ),
    "release-publication": Page(GET=STEWARDS, POST=sent(STEWARDS), about=RELEASE, body={"public": "yes"}),
    "release-map": Page(GET=MEMBERS, about=RELEASE),
    "embed": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_SO,) * 6, about=RELEASE),
    "release-comparable": Page(GET=MEMBERS, about=RELEASE),
    "release-comparison": Page(GET=NOWHERE, about=PAIR),  # two that are there: test_comparison.py
    "release-comparison-map": Page(GET=NOWHERE, about=PAIR),
    "release-sheet": Page(GET=MEMBERS, about=RELEASE),
    # for map programs; whoever has a token: tests/api/gis/test_access.py
    "gis:tilejson": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=RELEASE),
    "gis:tile": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=("release", "=0", "=0", "=0")),
    "gis:tile-2x": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=("release", "=0", "=0", "=0")),
    "gis:landing": Page(GET=OPEN, POST=(NOT_SO,) * 6),
    "gis:conformance": Page(GET=OPEN, POST=(NOT_SO,) * 6),
    "gis:ogc-api": Page(GET=OPEN, POST=(NOT_SO,) * 6),
    "gis:collections": Page(GET=OPEN, POST=(NOT_SO,) * 6),  # what is in it: tests/api/gis/test_ogc.py
    "gis:collection": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=RELEASE),
    "gis:items": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=RELEASE),
    "gis:item": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=("release", "=1")),
    "gis:coverage": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=RELEASE),
    "gis:schema": Page(GET=MAP_PROGRAMS, POST=(NOT_SO,) * 6, about=RELEASE),
    "gis:no-collections": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_FOUND,) * 6, about=("=nothing",)),
    "gis:no-tiles": Page(GET=(NOT_FOUND,) * 6, POST=(NOT_FOUND,) * 6, about=("=nothing",)),
    "release-thumbnail": Page(GET=MEMBERS, about=RELEASE),
    "release-og-image": Page(GET=MEMBERS, about=RELEASE),
    "release-download": Page(GET=MEMBERS, about=("release", "=json")),
    "release-districts": Page(GET=MEMBERS, about=("release", "districts")),
    NO_SUMS: Page(GET=NOWHERE, about=("release", "districts")),
}
PICTURES = ("release-thumbnail", "release-og-image")
PUBLIC = (
    *("gis:tilejson", "gis:tile", "gis:tile-2x"),
    *("gis:collection", "gis:items", "gis:item", "gis:coverage", "gis:schema"),
    *("embed", "release", "release-map", "release-sheet", "release-download", "release-districts"),
    "release-comparable",
    *PICTURES,
)
