"""Names the commands that work on files, and the settings that a command runs with."""

from collections.abc import Sequence
from typing import Final

# They load no model and open no database: `heatmaps.config.file_settings` has neither.
FILE_COMMANDS: Final = frozenset(
    {"audit", "calibrate", "centroid", "evaluate", "heatmap", "obfuscate", "reproduce"}
)


def settings_for(arguments: Sequence[str]) -> str:
    """Returns the settings module of a command line, which begins with the command's name."""
    is_of_files = bool(arguments) and arguments[0] in FILE_COMMANDS
    return "heatmaps.config.file_settings" if is_of_files else "heatmaps.config.settings"
