"""Settings of commands that work on files, with those of the tests."""

from heatmaps.config import file_settings
from tests.settings import *  # noqa: F403

INSTALLED_APPS, TEMPLATES = file_settings.INSTALLED_APPS, file_settings.TEMPLATES
