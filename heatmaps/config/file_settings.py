"""Sets Django up for commands that work on files: the product's settings, without its apps.

Models, administration, sign-in and the API take longer to load than such a command takes for its work.
"""

from heatmaps.config.settings import *  # noqa: F403  # every name there is a setting

INSTALLED_APPS = ["heatmaps.apps.FileCommandsConfig"]
TEMPLATES = [
    pages | {"BACKEND": "heatmaps.config.file_templates.FileTemplates"}
    for pages in TEMPLATES  # noqa: F405  # as above
]
