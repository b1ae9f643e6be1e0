"""Every code block of tutorials and how-to guides is run, shown, or listed with why it cannot run here."""

import re

import pytest

from tests.manual.blocks import RUN, SHOWN, blocks, documents, says

DOCKER = "needs Docker"
PACKAGES = "fetches packages or a new version"
STARTS = "starts what the test has running already"
PROGRAMS = "needs a public map; tests/services/test_map_programs.py runs it"
ROLES = "needs roles of PostgreSQL; tests/services/test_secrets_of_parts.py runs it"
CLUSTER = "needs the superuser of a cluster; tests/services/test_owner_upgrade.py runs the scripts"
DAMAGED = "needs a damaged chain; tests/people/test_damaged_ledgers.py closes some"
OTHERS = "needs other machines, or data of others"
# (document, name of the block) -> why no test runs it.
ELSEWHERE = {
    ("../README.md", "make run"): STARTS,
    ("../README.md", "make wheel && python3 -m venv ../hazemap-env &&"): PACKAGES,
    ("how-to/backup.md", "docker compose exec -T postgres sh -c 'PGPASSWOR"): DOCKER,
    ("how-to/backup.md", 'manage.py resume --reason "disk failed, restored'): OTHERS,
    ("how-to/collections.md", ".venv/bin/python manage.py createdemo --collecti"): OTHERS,
    ("how-to/collections.md", "docker compose --file docker-compose.collections"): DOCKER,
    ("how-to/collections.md", "manage.py shuffler join https://maps.example.org"): OTHERS,
    ("how-to/collections.md", "docker compose exec -T web tar -C /var/lib/hazem"): DOCKER,
    ("how-to/deployment.md", "docker compose up --detach --wait"): DOCKER,
    ("how-to/deployment.md", "psql --username=postgres --dbname=hazemap --file"): CLUSTER,
    ("how-to/deployment.md", "# Each service with its own user and file: web,"): OTHERS,
    ("how-to/deployment.md", "IMAGE_REGISTRY=https://registry.example/library"): PACKAGES,
    ("how-to/deployment.md", "pip install --require-hashes -r requirements.loc"): PACKAGES,
    ("how-to/gis.md", "gdalinfo /vsicurl/https://maps.example/api/v1/re"): OTHERS,
    ("how-to/gis.md", "ogrinfo OAPIF:https://maps.example/ogc/"): OTHERS,
    ("how-to/gis.md", "import geopandas"): PROGRAMS,
    ("how-to/gis.md", "import rasterio"): PROGRAMS,
    ("how-to/proxy.md", "HAZEMAP_ORIGINS=https://maps.example.org HAZEMAP"): OTHERS,
    ("how-to/lake.md", "for name in token secret; do openssl rand -hex 3"): DOCKER,
    ("how-to/lake.md", "celery -A heatmaps.config worker -Q lakes --host"): OTHERS,
    ("how-to/streets.md", "HAZEMAP_BASEMAP=city.pmtiles make run"): STARTS,
    ("how-to/streets.md", "make setup-basemap"): PACKAGES,
    ("how-to/upgrade.md", "git pull"): PACKAGES,
    ("how-to/upgrade.md", "pip install --require-hashes -r requirements.loc"): PACKAGES,
    ("how-to/upgrade.md", "git pull && docker compose build"): DOCKER,
    ("how-to/upgrade.md", "docker compose up --detach --wait postgres"): DOCKER,
    ("how-to/upgrade.md", "for name in clock superuser; do openssl rand -he"): DOCKER,
    ("how-to/upgrade.md", 'manage.py close-ledger city --reason "an event w'): DAMAGED,
    ("how-to/upgrade.md", "python manage.py migrate && python manage.py gra"): OTHERS,
    ("how-to/upgrade.md", "export HAZEMAP_WEB_KEY_DIR=/srv/hazemap/web-keys"): ROLES,
    ("tutorials/administrator.md", "make setup"): PACKAGES,
    ("tutorials/administrator.md", ".venv/bin/python manage.py serve --port 8000"): STARTS,
    ("tutorials/analyst.md", 'pip install "./clients/python[array,geo,raster,p'): PACKAGES,
    ("tutorials/developer.md", "make setup-dev"): PACKAGES,
    ("tutorials/developer.md", "make lint"): PACKAGES,
    ("tutorials/lake.md", "make setup"): PACKAGES,
    ("tutorials/lake.md", "HAZEMAP_SOURCES=lake/sources.toml HAZEMAP_SOURCE"): STARTS,
    ("tutorials/steward.md", "make run"): STARTS,
}


def test_every_block_is_run_shown_or_listed():
    unknown = [
        (str(document), block.line, block.language)
        for document in documents()
        for block in blocks(document)
        if block.language not in RUN + SHOWN or (block.elsewhere and block.language not in RUN)
    ]
    assert unknown == []


def test_the_list_of_what_runs_elsewhere_is_neither_short_nor_stale():
    marked = {
        (document.as_posix(), block.name)
        for document in documents()
        for block in blocks(document)
        if block.elsewhere
    }
    assert sorted(marked - ELSEWHERE.keys()) == []
    assert sorted(ELSEWHERE.keys() - marked) == []
    assert all(ELSEWHERE.values())


@pytest.mark.parametrize(
    ("line", "said"), [("a…c", True), ("…b", True), ("a", False), ("…ok, … events", True), ("abd", False)]
)
def test_an_answer_has_a_line_or_not(line, said):
    assert says("abc\nb\ndemo: ok, 3 events", line) is said


def test_programs_of_the_database_in_a_container_have_a_password():
    """Its cluster asks everybody (`--auth=scram-sha-256`), and without a terminal nobody answers."""
    commands = [
        part.replace("\\\n", " ")
        for document in documents()
        for block in blocks(document)
        for part in re.split(r"(?<!\\)\n(?! )", block.text)
    ]
    within = [command for command in commands if re.search(r"compose exec (-T )?postgres\b", command)]

    assert within
    assert [command for command in within if "PGPASSWORD=" not in command] == []
