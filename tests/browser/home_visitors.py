"""An auditor, an administrator, an analyst whose release is queued for an hour, and sessions of theirs.

python -m tests.browser.home_visitors: the cookies, as JSON.
"""

import json

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.test.utils import override_settings  # noqa: E402

from heatmaps.models import Membership  # noqa: E402
from tests.browser.populate import ask, session  # noqa: E402
from tests.services import seed  # noqa: E402


def main():
    people = {name: User.objects.create_user(f"home-{name}") for name in ("steward", "auditor", "analyst")}
    dataset = seed.make_dataset(people["steward"], "visited")
    seed.add_checkins(dataset)
    for role in ("auditor", "analyst"):
        Membership.objects.create(dataset=dataset, user=people[role], role=role)
    with override_settings(SLOT_SECONDS=dict.fromkeys(settings.SLOT_SECONDS, 3600)):
        ask(people["analyst"], dataset, "0.1")
    people["administrator"] = User.objects.create_superuser("home-administrator")
    print(json.dumps({name: session(person) for name, person in people.items()}))


if __name__ == "__main__":
    main()
