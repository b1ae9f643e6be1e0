"""Says what the database lets web processes, workers and the clock do, on PostgreSQL.

Tables belong to the role that migrates. Web, workers and the clock sign in as three others, which may neither
change a table nor disable a trigger. Every table is named for each of the three; what is not named here,
nobody but the owner may touch, and `grant-roles` says so.

The web hashes names of people who opt out, and bytes of files, so it has the keys; nothing of that needs a
check-in. The clock moves what was asked and drawn; it needs neither check-ins nor what lets somebody in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from heatmaps.models import SEEN_BY_WORKERS


@dataclass(frozen=True, slots=True)
class ColumnRights:
    """Names a right to some columns of a table: SELECT, INSERT or UPDATE."""

    right: str
    names: tuple[str, ...]


Rights: TypeAlias = tuple[str | ColumnRights, ...]
Tables: TypeAlias = Mapping[str, Rights]

EVERYTHING: Final[Rights] = ("SELECT", "INSERT", "UPDATE", "DELETE")
APPEND: Final[Rights] = ("SELECT", "INSERT")
READ: Final[Rights] = ("SELECT",)
CHANGE: Final[Rights] = ("SELECT", "UPDATE")
NOTHING: Final[Rights] = ()
# Who acted: the name behind a number.
NAMES: Final[Rights] = (ColumnRights("SELECT", SEEN_BY_WORKERS),)

# What moves a release, and what people edit of it; triggers let it move forward only.
MOVES: Final = ("state", "finished_at", "starts_at", "visible_at", "late")
EDITED: Final = ("name", "note", "is_name_public", "public_since")
# What is committed moves with each release, a limit by a steward's act alone.
COMMITTED: Final = ("committed", "unbounded")
# Events move a ledger's head; who writes one locks the row first, which takes the right to change some
# column. The database lets nobody change this one.
LOCK: Final = ColumnRights("UPDATE", ("dataset_id",))
# What web changes of an upload; triggers let it move forward only.
RECEIVED: Final = ("state", "version_id", "finished_at", "rows_accepted", "rows_rejected", "rows_outside")

# Functions of the schema that a role calls, or that a trigger calls in its name, and who may: "web", "worker"
# or "clock". A trigger's own function needs nobody's right.
FUNCTIONS: Final[Mapping[str, tuple[str, ...]]] = {}

WEB: Final[Tables] = {
    # Signing in.
    "account_emailaddress": EVERYTHING,
    "account_emailconfirmation": EVERYTHING,
    "auth_user": EVERYTHING,
    "django_session": EVERYTHING,
    "heatmaps_apitoken": EVERYTHING,
    "heatmaps_codetries": EVERYTHING,
    "heatmaps_invitation": EVERYTHING,
    "heatmaps_membership": EVERYTHING,
    "heatmaps_passwordlink": EVERYTHING,
    "heatmaps_peoplerules": EVERYTHING,
    "heatmaps_profile": EVERYTHING,
    "knox_authtoken": EVERYTHING,
    "mfa_authenticator": EVERYTHING,
    "socialaccount_socialaccount": EVERYTHING,
    "socialaccount_socialapp": EVERYTHING,
    "socialaccount_socialtoken": EVERYTHING,
    # Django's own: the product has neither groups nor permissions. Its administration logs what it changes.
    "auth_group": READ,
    "auth_group_permissions": READ,
    "auth_permission": READ,
    "auth_user_groups": READ,
    "auth_user_user_permissions": READ,
    "django_admin_log": APPEND,
    "django_content_type": READ,
    "django_migrations": READ,
    # What is asked, charged and told.
    "heatmaps_account": (*APPEND, ColumnRights("UPDATE", ("limit", *COMMITTED))),
    "heatmaps_administratorread": APPEND,
    "heatmaps_allowance": EVERYTHING,
    "heatmaps_charge": APPEND,
    "heatmaps_drawing": NOTHING,
    "heatmaps_election": APPEND,
    "heatmaps_event": APPEND,
    "heatmaps_ledger": (*APPEND, LOCK),
    "heatmaps_publication": READ,
    "heatmaps_release": (
        *APPEND,
        # A round that a shuffler joined expires later.
        ColumnRights("UPDATE", ("state", "finished_at", "expires_at", *EDITED)),
    ),
    "heatmaps_requestkey": EVERYTHING,
    "heatmaps_restoration": CHANGE,
    "heatmaps_restoredcharge": READ,
    "heatmaps_result": READ,
    "heatmaps_round": EVERYTHING,
    # Datasets and what is in them.
    "heatmaps_checkin": NOTHING,
    "heatmaps_extent": NOTHING,
    "heatmaps_collection": EVERYTHING,
    "heatmaps_dataset": (
        *APPEND,
        ColumnRights("UPDATE", ("schedule", "next_version_at", "retention_days", "embed_origins")),
    ),
    "heatmaps_dataversion": APPEND,
    "heatmaps_districtfile": EVERYTHING,
    "heatmaps_enrolment": NOTHING,
    "heatmaps_guidefile": APPEND,
    # Whether an upload has a copy in columns.
    "heatmaps_packedcheckins": (ColumnRights("SELECT", ("upload_id",)),),
    "heatmaps_packingattempts": EVERYTHING,
    "heatmaps_sourcereading": NOTHING,
    "heatmaps_sourcestate": (*READ, ColumnRights("UPDATE", ("version_id",))),
    "heatmaps_sourcesurvey": ("SELECT", "INSERT", "DELETE"),
    "heatmaps_suppression": APPEND,
    "heatmaps_upload": (*APPEND, ColumnRights("UPDATE", RECEIVED)),
    # The installation.
    "heatmaps_heartbeat": READ,
    "heatmaps_installation": APPEND,
}
# The same for both. Of what lets somebody in, or makes somebody more than they are, they need the name behind
# a number alone.
_WORKER_AND_CLOCK: Final[Tables] = {
    "account_emailaddress": NOTHING,
    "account_emailconfirmation": NOTHING,
    "auth_user": NAMES,
    "django_session": NOTHING,
    "heatmaps_apitoken": NOTHING,
    "heatmaps_codetries": NOTHING,
    "heatmaps_invitation": NOTHING,
    "heatmaps_passwordlink": NOTHING,
    "heatmaps_peoplerules": NOTHING,
    "heatmaps_profile": NOTHING,
    "knox_authtoken": NOTHING,
    "mfa_authenticator": NOTHING,
    "socialaccount_socialaccount": NOTHING,
    "socialaccount_socialapp": NOTHING,
    "socialaccount_socialtoken": NOTHING,
    "auth_group": NOTHING,
    "auth_group_permissions": NOTHING,
    "auth_permission": NOTHING,
    "auth_user_groups": NOTHING,
    "auth_user_user_permissions": NOTHING,
    "django_admin_log": NOTHING,
    "django_content_type": NOTHING,
    "heatmaps_account": (*READ, ColumnRights("UPDATE", COMMITTED)),
    "heatmaps_charge": READ,
    "heatmaps_event": APPEND,
    "heatmaps_ledger": (*READ, LOCK),
    "heatmaps_publication": READ,
    "heatmaps_release": (*READ, ColumnRights("UPDATE", MOVES)),
    "heatmaps_restoredcharge": READ,
    "heatmaps_result": APPEND,
    "heatmaps_dataset": (*READ, ColumnRights("UPDATE", ("next_version_at", "slot_doublings"))),
}
# It reads check-ins and draws.
WORKER: Final[Tables] = {
    **_WORKER_AND_CLOCK,
    "heatmaps_membership": READ,
    "django_migrations": READ,
    "heatmaps_administratorread": APPEND,
    "heatmaps_allowance": EVERYTHING,
    "heatmaps_drawing": EVERYTHING,
    "heatmaps_election": APPEND,
    "heatmaps_requestkey": EVERYTHING,
    "heatmaps_restoration": READ,
    "heatmaps_round": EVERYTHING,
    "heatmaps_checkin": ("SELECT", "INSERT", "DELETE"),
    "heatmaps_extent": ("SELECT", "INSERT", "DELETE", ColumnRights("UPDATE", ("last",))),
    "heatmaps_collection": EVERYTHING,
    "heatmaps_dataversion": (*APPEND, ColumnRights("UPDATE", ("is_cleared",))),
    "heatmaps_districtfile": EVERYTHING,
    "heatmaps_enrolment": EVERYTHING,
    "heatmaps_guidefile": APPEND,
    "heatmaps_packedcheckins": ("SELECT", "INSERT", "DELETE"),
    "heatmaps_packingattempts": EVERYTHING,
    "heatmaps_sourcereading": EVERYTHING,
    "heatmaps_sourcestate": (*APPEND, ColumnRights("UPDATE", ("version_id",))),
    "heatmaps_sourcesurvey": EVERYTHING,
    "heatmaps_suppression": APPEND,
    "heatmaps_upload": (*APPEND, "UPDATE"),
    "heatmaps_heartbeat": EVERYTHING,
    "heatmaps_installation": EVERYTHING,
}
# It moves what is due and publishes what was drawn; it reads no check-in and no hash of a person or password.
CLOCK: Final[Tables] = {
    **_WORKER_AND_CLOCK,
    "heatmaps_membership": NOTHING,
    "django_migrations": NOTHING,
    "heatmaps_administratorread": NOTHING,
    "heatmaps_allowance": (*READ, ColumnRights("UPDATE", ("committed",))),
    "heatmaps_drawing": ("SELECT", "INSERT", "DELETE", ColumnRights("UPDATE", ("state", "lease_until"))),
    "heatmaps_election": READ,
    "heatmaps_requestkey": NOTHING,
    "heatmaps_restoration": NOTHING,
    "heatmaps_round": READ,
    "heatmaps_checkin": NOTHING,
    "heatmaps_extent": NOTHING,
    "heatmaps_collection": READ,
    "heatmaps_dataversion": APPEND,
    "heatmaps_districtfile": NOTHING,
    "heatmaps_enrolment": NOTHING,
    "heatmaps_guidefile": READ,
    "heatmaps_packedcheckins": NOTHING,
    "heatmaps_packingattempts": NOTHING,
    "heatmaps_sourcereading": (ColumnRights("SELECT", ("release_id", "begun_at")),),
    "heatmaps_sourcestate": (*READ, ColumnRights("UPDATE", ("version_id",))),
    "heatmaps_sourcesurvey": ("SELECT", "DELETE", ColumnRights("UPDATE", ("appears_at",))),
    # Whoever makes a version commits to what it holds: keyed hashes of who opted out, digests of uploads.
    "heatmaps_suppression": READ,
    "heatmaps_upload": (*READ, ColumnRights("UPDATE", ("version_id",))),
    "heatmaps_heartbeat": ("SELECT", "INSERT", "UPDATE"),
    "heatmaps_installation": READ,
}
