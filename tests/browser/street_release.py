"""A public release of the middle of Helsinki, and sessions of who looks at it.

python -m tests.browser.street_release: its id and the cookies, as JSON.
"""

import json

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402

from heatmaps.releases import clock, publication  # noqa: E402
from mechanisms.space.grid import Region  # noqa: E402
from tests.browser.populate import ask, session  # noqa: E402
from tests.maps.streets.helsinki import BOX  # noqa: E402
from tests.services import seed  # noqa: E402


def main():
    steward = User.objects.create_user("streets-steward")
    dataset = seed.make_dataset(steward, "streets", region=Region(*BOX))
    seed.add_checkins(dataset)
    release = ask(steward, dataset, "1")
    clock.complete(release.pk)
    publication.set_public(steward, release, public=True)
    print(json.dumps({"release": str(release.pk), "slug": dataset.slug, "session": session(steward)}))


if __name__ == "__main__":
    main()
