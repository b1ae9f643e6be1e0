"""Says what the database lets web processes, workers and the clock do, on PostgreSQL.

Tables belong to the role that migrates. Web, workers and the clock sign in as three others, which may neither
change a table nor disable a trigger, and which read and write every table but those that are named here.

The web hashes names of people who opt out, and bytes of files, so it has the keys; nothing of that needs a
check-in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from heatmaps.models import SEEN_BY_WORKERS


@dataclass(frozen=True, slots=True)
class Columns:
    """A right to some columns of a table: SELECT, INSERT or UPDATE."""

    right: str
    names: tuple[str, ...]


Rights: TypeAlias = tuple[str | Columns, ...]
Tables: TypeAlias = Mapping[str, Rights]

EVERYTHING: Final[Rights] = ("SELECT", "INSERT", "UPDATE", "DELETE")
APPEND: Final[Rights] = ("SELECT", "INSERT")
READ: Final[Rights] = ("SELECT",)
CHANGE: Final[Rights] = ("SELECT", "UPDATE")
NOTHING: Final[Rights] = ()

# What moves a release, and what people edit of it; triggers let it move forward only.
MOVES: Final = ("state", "finished_at", "starts_at", "visible_at", "late")
EDITED: Final = ("name", "note", "is_name_public", "public_since")
# What is committed moves with each release, a limit by a steward's act alone.
COMMITTED: Final = ("committed", "unbounded")

# For a table that is not named here: everything.
ALL: Final[Tables] = {
    "heatmaps_event": APPEND,
    "heatmaps_administratorread": APPEND,
    "heatmaps_guidefile": APPEND,
    "heatmaps_election": APPEND,
    # Events move its head; who writes one locks the row first, which takes the right to change some column.
    # The database lets nobody change this one.
    "heatmaps_ledger": ("SELECT", Columns("UPDATE", ("dataset_id",))),
    "heatmaps_publication": READ,
    "heatmaps_suppression": APPEND,
    "heatmaps_restoration": READ,
    "heatmaps_restoredcharge": READ,
    "heatmaps_charge": READ,
    "heatmaps_result": READ,
    "django_migrations": READ,
}
WEB: Final[Tables] = {
    **ALL,
    "heatmaps_installation": APPEND,
    "heatmaps_ledger": ("SELECT", "INSERT", Columns("UPDATE", ("dataset_id",))),
    "heatmaps_restoration": CHANGE,
    # What draws read is bound by events: of it, web adds, and changes what triggers let go forward.
    # A round that a shuffler joined expires later.
    "heatmaps_release": (*APPEND, Columns("UPDATE", ("state", "finished_at", "expires_at", *EDITED))),
    "heatmaps_charge": APPEND,
    "heatmaps_account": (*APPEND, Columns("UPDATE", ("limit", *COMMITTED))),
    "heatmaps_dataset": (
        *APPEND,
        Columns("UPDATE", ("schedule", "next_version_at", "retention_days", "embed_origins")),
    ),
    "heatmaps_dataversion": APPEND,
    "heatmaps_upload": (
        *APPEND,
        Columns(
            "UPDATE",
            ("state", "version_id", "finished_at", "rows_accepted", "rows_rejected", "rows_outside"),
        ),
    ),
    "heatmaps_checkin": NOTHING,
    "heatmaps_enrolment": NOTHING,
    # Whether an upload has a copy in columns.
    "heatmaps_packedcheckins": (Columns("SELECT", ("upload_id",)),),
    "heatmaps_drawing": NOTHING,
    "heatmaps_sourcereading": NOTHING,
    "heatmaps_sourcestate": (*READ, Columns("UPDATE", ("version_id",))),
    "heatmaps_sourcesurvey": ("SELECT", "INSERT", "DELETE"),
    "heatmaps_heartbeat": READ,
}
# What lets somebody in, or makes somebody more than they are: a worker needs the name behind a number alone.
WORKER: Final[Tables] = {
    **ALL,
    "heatmaps_checkin": ("SELECT", "INSERT", "DELETE"),
    "heatmaps_packedcheckins": ("SELECT", "INSERT", "DELETE"),
    "heatmaps_dataversion": (*APPEND, Columns("UPDATE", ("is_cleared",))),
    "heatmaps_sourcestate": (*APPEND, Columns("UPDATE", ("version_id",))),
    "heatmaps_upload": (*APPEND, "UPDATE"),
    "heatmaps_release": (*READ, Columns("UPDATE", MOVES)),
    "heatmaps_result": APPEND,
    "heatmaps_account": (*READ, Columns("UPDATE", COMMITTED)),
    "heatmaps_dataset": (*READ, Columns("UPDATE", ("next_version_at", "slot_doublings"))),
    "account_emailaddress": NOTHING,
    "account_emailconfirmation": NOTHING,
    "mfa_authenticator": NOTHING,
    "socialaccount_socialaccount": NOTHING,
    "socialaccount_socialapp": NOTHING,
    "socialaccount_socialtoken": NOTHING,
    "django_session": NOTHING,
    "knox_authtoken": NOTHING,
    "heatmaps_apitoken": NOTHING,
    "heatmaps_codetries": NOTHING,
    "heatmaps_invitation": NOTHING,
    "heatmaps_passwordlink": NOTHING,
    "auth_user": (Columns("SELECT", SEEN_BY_WORKERS),),
    "heatmaps_membership": READ,
    "heatmaps_peoplerules": NOTHING,
    "heatmaps_profile": NOTHING,
}
