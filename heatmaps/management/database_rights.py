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

# For a table that is not named here: everything.
ALL: Final[Tables] = {
    "heatmaps_event": APPEND,
    "heatmaps_administratorread": APPEND,
    "heatmaps_guidefile": APPEND,
    "heatmaps_election": APPEND,
    "heatmaps_restoration": READ,
    "heatmaps_restoredcharge": READ,
    "django_migrations": READ,
}
WEB: Final[Tables] = {
    **ALL,
    "heatmaps_installation": APPEND,
    "heatmaps_restoration": CHANGE,
    "heatmaps_checkin": NOTHING,
    "heatmaps_enrolment": NOTHING,
    # Whether an upload has a copy in columns.
    "heatmaps_packedcheckins": (Columns("SELECT", ("upload_id",)),),
    "heatmaps_drawing": NOTHING,
    "heatmaps_sourcereading": NOTHING,
    "heatmaps_sourcestate": READ,
    "heatmaps_heartbeat": READ,
}
# What lets somebody in, or makes somebody more than they are: a worker needs the name behind a number alone.
WORKER: Final[Tables] = {
    **ALL,
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
