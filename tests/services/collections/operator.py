"""Whoever operates the shuffler: each line of input is commands in JSON, answered by what they print.

python -m tests.services.collections.operator
"""

import io
import json
import os
import sys

import django
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection


def main():
    os.environ["DJANGO_SETTINGS_MODULE"] = "heatmaps.shuffler.settings"
    django.setup()
    for line in sys.stdin:
        told = []
        for words in json.loads(line)["commands"]:
            output, refusal = io.StringIO(), ""
            try:
                call_command(*words, stdout=output)
            except CommandError as refused:
                refusal = str(refused)
            told.append([output.getvalue(), refusal])
        connection.close()
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
