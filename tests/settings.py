"""Settings of the test run: the product's own, with all state in a folder that is thrown away."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_STATE = Path(tempfile.mkdtemp(prefix="hazemap-tests-"))
atexit.register(shutil.rmtree, _STATE, ignore_errors=True)
for _name in [name for name in os.environ if name.startswith("HAZEMAP_") and name != "HAZEMAP_TEST_DATA"]:
    del os.environ[_name]
os.environ["HAZEMAP_STATE"] = str(_STATE)
os.environ["HAZEMAP_RECORD_DIR"] = str(_STATE / "record")
# tests/services runs some suites a second time on a PostgreSQL server of its own.
os.environ["HAZEMAP_DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")

from heatmaps.config.settings import *  # noqa: E402, F403
from heatmaps.places import pack  # noqa: E402
from heatmaps.places.gazetteer import SPELLINGS  # noqa: E402

if "TEST_DATABASE_TEMPLATE" in os.environ:  # migrated already
    DATABASES["default"]["TEST"] = {"TEMPLATE": os.environ["TEST_DATABASE_TEMPLATE"]}  # noqa: F405
WHITENOISE_AUTOREFRESH = True  # else each test client reads the whole folder first
PASSWORD_HASHERS = ["tests.password_hasher.QuickHasher"]
PLANNING_SECONDS = 240.0  # the machine may be busy with other tests
PROVIDER_SECONDS = 60
# Releases are begun and told as soon as somebody calls for it; tests of slots set lengths of their own.
MANUAL_DIR = _STATE / "manual"  # none, as in a new checkout
GROUND_DIR = _STATE / "ground"  # no coast: what a picture shows does not depend on what is installed
GROUND_DIR.mkdir()
if not (PLACES_DIR / SPELLINGS).is_file():  # noqa: F405 - before `make setup`
    pack.build(PLACES_DIR)  # noqa: F405 - where children may read
SLOT_SECONDS = dict.fromkeys(SLOT_SECONDS, 0)  # noqa: F405
DRAW_PLACES = dict.fromkeys(DRAW_PLACES, 1_000)  # noqa: F405
SOURCE_SLOT_SECONDS, SOURCE_PLACES = 0, 1_000
MOST_QUESTIONS_A_DAY = dict.fromkeys(MOST_QUESTIONS_A_DAY, 10_000)  # noqa: F405
