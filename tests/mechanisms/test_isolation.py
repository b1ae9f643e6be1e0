import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import importlib, json, pkgutil, sys
import mechanisms
names = [module.name for module in pkgutil.walk_packages(mechanisms.__path__, "mechanisms.")]
for name in names:
    importlib.import_module(name)
print(json.dumps([names, sorted({name.split(".")[0] for name in sys.modules})]))
"""


def test_mechanisms_load_nothing_of_the_web():
    # A fresh process: this one has loaded Django for the other tests.
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    imported, loaded = json.loads(done.stdout)
    assert {"mechanisms.central.sparse_emd.mechanism", "mechanisms.samplers.uniform"} <= set(imported)
    foreign = {"django", "rest_framework", "knox", "celery", "kombu", "redis", "psycopg", "api", "heatmaps"}
    assert not foreign & set(loaded)


def test_every_file_of_the_package_is_imported_by_that_check():
    files = {path for path in (ROOT / "mechanisms").rglob("*.py") if path.name != "__init__.py"}
    folders = {path.parent for path in files}
    assert all((folder / "__init__.py").exists() for folder in folders)
