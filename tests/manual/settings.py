"""The product's settings with a manual that a test built."""

import os
from pathlib import Path

from heatmaps.config.settings import *  # noqa: F403

MANUAL_DIR = Path(os.environ["TESTS_MANUAL"])
