"""Prints the figures of a function as lines of JSON.

`python -m tests.benchmarks.worker MODULE.FUNCTION SIZE`
"""

import os
import sys

import django
from django.utils.module_loading import import_string

from tests.benchmarks.measure import Size


def main(worker: str, size: str) -> None:
    if os.environ.get("DJANGO_SETTINGS_MODULE"):
        django.setup()
    for figure in import_string(f"tests.benchmarks.{worker}")(Size(size)):
        print(figure.json(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
