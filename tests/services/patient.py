"""The product's settings, with patience for a provider on a busy machine."""

from heatmaps.config.settings import *  # noqa: F403

PROVIDER_SECONDS = 60
