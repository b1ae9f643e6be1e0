"""A worker's process, before it takes a task."""

import os
import subprocess
import sys
from pathlib import Path

from heatmaps.broker import queue

ROOT = Path(__file__).parents[2]
WORKER = """
import sys
from celery.app.utils import find_app
from celery.signals import worker_init
app = find_app("heatmaps.config")  # as `celery -A heatmaps.config`
app.loader.import_default_modules()
print(*sorted(name for name in app.tasks if not name.startswith("celery.")))
worker_init.send(sender=None)
print(*sorted(sys.modules))
"""


def test_it_has_every_task_and_mechanism_and_no_page(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORKER],
        cwd=ROOT,
        env=os.environ
        | {"HAZEMAP_STATE": str(tmp_path), "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    tasks, modules = (line.split() for line in done.stdout.splitlines())
    assert tasks == sorted(queue.IDS)
    assert not {"heatmaps.config.urls", "heatmaps.views.urls", "heatmaps.admin", "folium", "pandas"} & {
        *modules
    }
    # Loaded before it forks: its processes share them.
    assert {"mechanisms.central.adaptive.mechanism", "mechanisms.devices.building"} <= {*modules}
