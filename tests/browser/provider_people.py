"""Makes a dataset with an invitation to it, and two people with accounts, one of them with a second factor.

python -m tests.browser.provider_people
"""

import json
import secrets

import django

django.setup()

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes  # noqa: E402
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402

from heatmaps.people import invitations  # noqa: E402
from tests.services import seed  # noqa: E402


def main():
    steward = User.objects.create_user("steward-of-here")
    dataset = seed.make_dataset(steward, "walks")
    password = secrets.token_urlsafe(16)
    for name in ("ben-of-here", "cleo-of-here"):
        user = User.objects.create_user(name, password=password)
    TOTP.activate(user, generate_totp_secret())
    codes = RecoveryCodes.activate(user).get_unused_codes()
    return {
        "invitation": invitations.invite(steward, dataset, "analyst").secret,
        "password": password,
        "codes": codes,
    }


if __name__ == "__main__":
    print(json.dumps(main()))
