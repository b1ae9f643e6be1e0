"""A cluster whose superuser owned the tables gets an owner that is none, by the script of the manual."""

import subprocess

import psycopg
import pytest

from tests.services.installation import ROOT
from tests.services.roles import CLOCK, OWNER, WEB, WORKER, signed_in

pytestmark = [pytest.mark.postgres, pytest.mark.long]

SUPERUSER = "postgres"


def upgrade(server, folder):
    """As the page says, with the secrets of a folder."""
    text = (ROOT / ".docker/postgres/upgrade.sql").read_text()
    script = folder / "upgrade.sql"
    script.write_text(text.replace("/run/secrets", str(folder)))
    psql = ["psql", "--no-psqlrc", "--quiet", f"--dbname={server.url('hazemap')}", f"--file={script}"]
    return subprocess.run(psql, capture_output=True, text=True, check=False)


def test_data_and_rights_stay_and_the_owner_is_no_superuser(postgres, granted, tmp_path):
    made, name = granted
    for secret in ("postgres_password", "superuser_password"):
        (tmp_path / secret).write_text(f"of-{secret}\n")
    with postgres.replica() as server:
        server.execute(f'ALTER DATABASE "{name}" RENAME TO hazemap')
        with signed_in(server, "hazemap", OWNER) as owner:
            owner.execute("INSERT INTO heatmaps_heartbeat VALUES ('kept', now())")
            owned = "SELECT count(*) FROM pg_tables WHERE tableowner = 'hazemap' AND schemaname = 'public'"
            tables = owner.execute(owned).fetchone()
        done = upgrade(server, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert upgrade(server, tmp_path).returncode != 0, "a second time changes nothing"

        with signed_in(server, "hazemap", OWNER) as owner:
            query = "SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
            assert owner.execute(query).fetchone() == (False, True, False)
            assert owner.execute(owned).fetchone() == tables
            assert owner.execute("SELECT name FROM heatmaps_heartbeat").fetchone() == ("kept",)
            for statement in ("COPY (SELECT 1) TO PROGRAM 'true'", "SELECT * FROM pg_authid"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    owner.execute(statement)
        dump = ["pg_dump", "--no-privileges", "--schema-only", f"--dbname={server.url('hazemap')}"]
        subprocess.run(dump, check=True, stdout=subprocess.DEVNULL)
        again = made.copied_to(tmp_path / "state", server.url("hazemap")).manage("grant-roles")
        assert again.stderr == ""
        with signed_in(server, "hazemap", OWNER) as owner:
            for role in (WEB, WORKER, CLOCK):
                assert not owner.execute("SELECT pg_has_role(%s, 'MEMBER')", [role]).fetchone()[0]
            owner.execute("SELECT pg_total_relation_size('heatmaps_drawing')")
        with psycopg.connect(server.url("hazemap").replace("//hazemap@", f"//{SUPERUSER}@")) as superuser:
            query = "SELECT rolname FROM pg_roles WHERE rolsuper OR rolname = 'hazemap_renaming'"
            assert superuser.execute(query).fetchall() == [(SUPERUSER,)]
