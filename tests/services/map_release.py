"""A public map of a test installation, and a token of its steward.

python -m tests.services.map_release: its id and the token, as JSON.
"""

import json

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402

from heatmaps.models import ApiToken  # noqa: E402
from heatmaps.releases import clock, lifecycle, publication  # noqa: E402
from heatmaps.releases.lifecycle import ReleaseRequest  # noqa: E402
from tests.services import seed  # noqa: E402


def main():
    steward = User.objects.create_user("steward-of-the-map")
    dataset = seed.make_dataset(steward, "shown")
    seed.add_checkins(dataset, codes=2**50)  # all in one square, which neither noise nor smoothing hides
    request = ReleaseRequest(mechanism="laplace", epsilon="2", resolution=64)
    release = lifecycle.request_release(steward, dataset, request)
    clock.complete(release.pk)
    publication.set_public(steward, release, public=True)
    _, secret = ApiToken.objects.create(user=steward, name="test", scopes=["read", "steward"])
    print(json.dumps({"release": str(release.pk), "token": secret}))


if __name__ == "__main__":
    main()
