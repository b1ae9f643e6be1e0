"""The product's settings with a sweep every second."""

from heatmaps.config.settings import *  # noqa: F403

SWEEP_SECONDS = 1.0
