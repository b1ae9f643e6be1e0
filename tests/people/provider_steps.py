"""Steps of people who come back from a sign-in provider."""

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from heatmaps.config import sign_in_provider

HOST = "http://testserver"
UNKNOWN, LINK, CONFIRM = "No account here", "account-provider", "account-provider-confirm"
AGAIN = "account-confirm-provider"


def use(settings):
    """Makes the provider that the environment names the one of settings."""
    settings.SIGN_IN_PROVIDER = sign_in_provider.sign_in_provider()
    settings.SOCIALACCOUNT_PROVIDERS = sign_in_provider.for_allauth(settings.SIGN_IN_PROVIDER)


def who(client):
    """Returns the user whom a client is signed in as, if any."""
    return User.objects.filter(pk=client.session.get("_auth_user_id")).first()


def join(come, name, invitation, **typed):
    """Returns a client that a new person signed in with, in the provider's way."""
    client = Client()
    page = come(client, name, invitation=invitation)
    assert page.status_code == 200, page.content.decode()
    answer = client.post(reverse("sign-in-provider-name"), {"username": name} | typed)
    assert answer.status_code == 302, answer.content.decode()
    return client
