#!/usr/bin/env python3
"""Hazemap's command line; `manage.py help` lists the commands."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heatmaps.config.settings")
    execute_from_command_line(sys.argv)
