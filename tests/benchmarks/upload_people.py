"""A steward with a token and empty datasets of a migrated installation.

python -m tests.benchmarks.upload_people COUNT: prints the token and the datasets' slugs as JSON.
"""

import json
import sys

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402

from heatmaps.models import ApiToken, RowCapacity  # noqa: E402
from tests.benchmarks.checkin_files import REGION  # noqa: E402
from tests.services import seed  # noqa: E402


def main(count: str) -> dict[str, object]:
    steward = User.objects.create_user("steward")
    slugs = [f"uploads-{number}" for number in range(int(count))]
    for slug in slugs:
        seed.make_dataset(steward, slug, region=REGION, row_capacity=RowCapacity.HUGE)
    _, secret = ApiToken.objects.create(user=steward, name="bench", scopes=["read", "steward"])
    return {"token": secret, "datasets": slugs}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
