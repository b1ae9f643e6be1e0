"""The database roles of a deployment, and who signs in as them."""

import psycopg

from heatmaps.management.database_rights import CLOCK as CLOCK_RIGHTS
from heatmaps.management.database_rights import WEB as WEB_RIGHTS
from heatmaps.management.database_rights import WORKER as WORKER_RIGHTS

OWNER, WEB, WORKER, CLOCK = "hazemap", "hazemap_web", "hazemap_worker", "hazemap_clock"
RIGHTS = {WEB: WEB_RIGHTS, WORKER: WORKER_RIGHTS, CLOCK: CLOCK_RIGHTS}


def url(server, database, role):
    return server.url(database).replace("//hazemap@", f"//{role}@")


def signed_in(server, database, role, **options):
    """A connection as Hazemap's processes do not make it: with the role's own settings."""
    return psycopg.connect(url(server, database, role), autocommit=True, **options)
