#!/usr/bin/env python3
"""Hazemap's command line; `manage.py help` lists the commands, `manage.py shuffler help` the shuffler's."""

import os
import sys

from django.core.management import execute_from_command_line

from heatmaps.config.file_commands import settings_for

if __name__ == "__main__":
    if sys.argv[1:2] == ["shuffler"]:
        # A role of its own: nothing of the analyser's settings, keys and database is read.
        os.environ["DJANGO_SETTINGS_MODULE"] = "heatmaps.shuffler.settings"
        execute_from_command_line([f"{sys.argv[0]} shuffler", *sys.argv[2:]])
    else:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings_for(sys.argv[1:]))
        execute_from_command_line(sys.argv)
