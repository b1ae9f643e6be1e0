"""Sessions of people who entered their password again."""

import time

from allauth.account.internal.flows import login
from allauth.account.internal.userkit import user_id_to_str


def confirm(client, user, *, seconds_ago=0):
    """As the page that asks for it does."""
    entered = {"method": "password", "at": time.time() - seconds_ago, "reauthenticated": True}
    session = client.session
    session[login.AUTHENTICATION_METHODS_SESSION_KEY] = [entered]
    session[login._AUTHENTICATION_METHODS_USER_SESSION_KEY] = user_id_to_str(user)
    session.save()
