"""What a worker has of what lets people in, and that web and workers do their work all the same.

An installation with one key folder and one upload on its way goes on with keys of web's own.
"""

import json
import subprocess
import sys
from types import SimpleNamespace

import psycopg
import pytest

from tests.manual.blocks import blocks
from tests.services.compose import replaced
from tests.services.installation import ROOT, Installation

pytestmark = [pytest.mark.postgres, pytest.mark.long]

WEB_KEYS = {"django-secret-key", "second-factor-key"}
BEFORE = """
import django; django.setup()
from django.contrib.auth.models import User
from tests.services import web
User.objects.create_superuser("administrator", "root@example.org", "stones roll down hills")
web.upload()
"""
DRAW = """
import json
import django; django.setup()
from heatmaps.ingest import uploads
from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset, Release, Upload
from heatmaps.releases import clock
for upload in Upload.objects.exclude(state="ready"):
    uploads.run(upload.pk)
for release in Release.objects.all():
    clock.complete(release.pk)
states = [list(model.objects.values_list("state", flat=True)) for model in (Upload, Release)]
print(json.dumps([*states, verify(Dataset.objects.get()).problem]))
"""
# As links were made until they were rows.
RECIPE = """
import django; django.setup()
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
class Tokens(PasswordResetTokenGenerator):
    key_salt = "heatmaps.people.password_links"
    def _make_hash_value(self, user, timestamp):
        return f"{super()._make_hash_value(user, timestamp)}{None}"  # it has no profile and no address
user = User.objects.get(username="administrator")
computed = f"{user_pk_to_url_str(user)}-{Tokens().make_token(user)}"
"""
LINK = """
from django.conf import settings
from django.test import Client
from django.urls import reverse
from heatmaps.people import password_links
settings.ALLOWED_HOSTS = ["testserver"]
page = "account_reset_password_from_key"
assert Client().get(reverse(page, args=[computed])).status_code == 404
words = "grass grows by inches"
link = reverse(page, args=[password_links.make(user, user)])
body = {"new_password1": words, "new_password2": words}
assert Client().post(link, body)["Location"] == reverse("account_login")
assert Client().post(link, body).status_code == 404
visitor = Client()
visitor.post(reverse("account_login"), {"login": "administrator", "password": words})
assert visitor.get(reverse("accounts")).status_code == 200
"""


@pytest.fixture(scope="module")
def parts(world, postgres, tmp_path_factory):
    """Owner, web and worker as the compose file has them, after an upgrade by what `migrate` does there."""
    folder = tmp_path_factory.mktemp("parts")
    before = world.installation(folder, "postgresql")
    name = before.database
    keys = before.folder / "keys"
    before.python("-c", BEFORE)
    old = {path.name: path.read_bytes() for path in keys.iterdir()}

    def part(role, web_keys):
        others = {"HAZEMAP_KEY_DIR": str(keys), "HAZEMAP_WEB_KEY_DIR": web_keys}
        url = postgres.url(name).replace("//hazemap@", f"//{role}@")
        return Installation(
            folder=before.folder, database_url=url, broker_url="redis://127.0.0.1:1/0", others=others
        )

    web_keys = folder / "web-keys"
    upgrade(part("hazemap", ""), web_keys)
    return SimpleNamespace(
        web=part("hazemap_web", str(web_keys)),
        worker=part("hazemap_worker", "none"),
        worker_url=postgres.url(name).replace("//hazemap@", "//hazemap_worker@"),
        keys=keys,
        web_keys=web_keys,
        old=old,
    )


def upgrade(owner, web_keys):
    """What the manual says."""
    (told,) = (block for block in blocks("how-to/upgrade.md") if "WEB_KEY_DIR" in block.text)
    here = {"/srv/hazemap/web-keys": str(web_keys), "python manage.py": f"{sys.executable} manage.py"}
    command = ["bash", "-ec", replaced(told.text, here)]
    subprocess.run(command, env=owner.environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_the_upgrade_moves_webs_keys_alone(parts):
    assert set(parts.old) > WEB_KEYS
    now = {path.name: path.read_bytes() for path in (*parts.keys.iterdir(), *parts.web_keys.iterdir())}
    assert now.pop("web-keys-moved").decode() == f"{parts.web_keys}\n"
    assert now == parts.old
    assert {path.name for path in parts.web_keys.iterdir()} == WEB_KEYS


def test_a_worker_draws_without_webs_keys_from_a_dataset_of_before(parts):
    assert json.loads(parts.worker.python("-c", DRAW).stdout) == [["ready"], [], ""]
    parts.web.script("web", "ask")
    assert json.loads(parts.worker.python("-c", DRAW).stdout) == [["ready"], ["published"], ""]
    assert {path.name for path in parts.keys.iterdir()}.isdisjoint(WEB_KEYS)


def test_nothing_that_a_worker_has_makes_a_link(parts):
    refused = parts.worker.python("-c", RECIPE, check=False)
    assert refused.returncode == 1
    assert "permission denied for table auth_user" in refused.stderr
    with psycopg.connect(parts.worker_url, autocommit=True) as worker:
        for statement in (
            "SELECT * FROM heatmaps_passwordlink",
            "INSERT INTO heatmaps_passwordlink VALUES (1, repeat('a', 64), repeat('a', 64), now())",
            "UPDATE heatmaps_passwordlink SET digest = repeat('a', 64)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                worker.execute(statement)
    secret = [parts.web_keys.joinpath(name).read_bytes() for name in WEB_KEYS]
    files = [path for path in parts.worker.folder.rglob("*") if path.is_file()]
    assert [path.name for path in files if any(key in path.read_bytes() for key in secret)] == []


def test_what_was_computed_with_all_keys_and_columns_is_no_link_and_web_makes_one(parts):
    parts.web.python("-c", RECIPE + LINK)
