"""Makes an account with a password, and prints both.

python -m tests.browser.somebody NAME
"""

import json
import secrets
import sys

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402

if __name__ == "__main__":
    name, password = sys.argv[1], secrets.token_urlsafe(16)
    User.objects.create_user(name, password=password)
    print(json.dumps({"name": name, "password": password}))
