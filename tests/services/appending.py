"""Appends events to a dataset's chain as whoever signs in, beside others that do the same.

python -m tests.services.appending SLUG COUNT
"""

import sys

import django

django.setup()

from heatmaps.ledger import transitions  # noqa: E402
from heatmaps.models import Dataset  # noqa: E402

if __name__ == "__main__":
    dataset = Dataset.objects.get(slug=sys.argv[1])
    for number in range(int(sys.argv[2])):
        transitions.record(dataset, "resumed", actor=None, before={}, after={"number": number})
    print("null")
