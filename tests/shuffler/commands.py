"""Runs several of the shuffler's commands in one process: `process.Shuffler.commands`."""

import io
import json
import os
import sys

import django
from django.core.management import call_command
from django.core.management.base import CommandError

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "heatmaps.shuffler.settings"
    django.setup()
    told = []
    for words in json.load(sys.stdin):
        output = io.StringIO()
        try:
            call_command(*words, stdout=output)
            told.append((output.getvalue(), ""))
        except CommandError as refusal:
            told.append((output.getvalue(), str(refusal)))
    json.dump(told, sys.stdout)
