"""The product's settings with a sweep every second."""

from heatmaps.config.settings import *  # noqa: F403

SWEEP_SECONDS = 1.0
CELERY_BEAT_SCHEDULE = {"sweep": {"task": "heatmaps.sweep", "schedule": SWEEP_SECONDS}}
