"""An OpenID Connect provider of its own process: a form to sign in, a page that asks for consent, people.

python -m tests.services.provider FOLDER PORT REDIRECT_URI…

Of whom it tells what, `Provider.claim` sets at any time: also what no honest provider would say.
"""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.services.installation import ROOT
from tests.services.programs import free_port, wait_until

CLIENT_ID, CLIENT_SECRET, PASSWORD = "hazemap", "a-secret-of-the-tests", "correct horse"
PEOPLE = ("anna", "ben", "cleo")
CLAIMS = "claims.json"
METADATA = "metadata"  # of whom nobody is called: what the provider says of itself


@dataclass(kw_only=True)
class Provider:
    """A running provider; people are `PEOPLE`, with `PASSWORD`."""

    folder: Path
    port: int
    process: subprocess.Popen

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.port}/o"

    @property
    def environment(self):
        """What an installation needs to know of it."""
        return {
            "HAZEMAP_OIDC_ISSUER": self.issuer,
            "HAZEMAP_OIDC_CLIENT_ID": CLIENT_ID,
            "HAZEMAP_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "HAZEMAP_OIDC_NAME": "Example University",
        }

    @classmethod
    @contextlib.contextmanager
    def started(cls, folder, *redirect_uris):
        """`redirect_uris`: where it may send people back to."""
        port = free_port()
        command = [sys.executable, "-m", "tests.services.provider", str(folder), str(port), *redirect_uris]
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("HAZEMAP_", "DJANGO_"))
        }
        with (folder / "output").open("ab") as output:
            process = subprocess.Popen(
                command, env=kept | {"PYTHONPATH": str(ROOT)}, cwd=ROOT, stdout=output, stderr=output
            )
        made = cls(folder=folder, port=port, process=process)
        try:
            wait_until(made.answers, seconds=120, what="the provider answering")
            yield made
        finally:
            made.stop()

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.issuer}/.well-known/openid-configuration", timeout=5) as told:
                return json.load(told)["issuer"] == self.issuer
        except (urllib.error.URLError, OSError):
            return False

    def claim(self, whom, **claims):
        """What is said of somebody, or of METADATA, from now on, over what is usual; None leaves it out."""
        path = self.folder / CLAIMS
        told = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(told | {whom: claims}))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=60)


PAGE = """<!doctype html><html lang="en"><title>{title}</title><main><h1>{title}</h1><form method="post">
{% csrf_token %}{body}</form></main></html>"""
SIGN_IN = PAGE.replace("{title}", "Example University").replace(
    "{body}", "{{ form.as_p }}<input type=hidden name=next value='{{ next }}'><button>Continue</button>"
)
CONSENT = PAGE.replace("{title}", "Share your name?").replace(
    "{body}",
    "{% for field in form %}{% if field.is_hidden %}{{ field }}{% endif %}{% endfor %}"
    "<ul>{% for scope in scopes_descriptions %}<li>{{ scope }}</li>{% endfor %}</ul>{{ error.error }}"
    "<input type=submit value=Refuse><input type=submit name=allow value=Allow>",
)


def configure(folder, issuer):
    """Django's settings of this process: nothing of the product's."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from django.conf import settings

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pages = {"registration/login.html": SIGN_IN, "oauth2_provider/authorize.html": CONSENT}
    settings.configure(
        SECRET_KEY=secrets.token_urlsafe(32),
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF="tests.services.provider_pages",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite3"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            *("django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"),
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {"loaders": [("django.template.loaders.locmem.Loader", pages)]},
            }
        ],
        # Cookies know no ports: the product's own may be of the same host.
        SESSION_COOKIE_NAME="provider-session",
        CSRF_COOKIE_NAME="provider-csrf",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        LOGIN_URL="/sign-in/",
        USE_TZ=True,
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": issuer,
            "OIDC_RSA_PRIVATE_KEY": key.decode(),
            "OAUTH2_VALIDATOR_CLASS": "tests.services.provider_pages.Talkative",
            "SCOPES": {"openid": "that it is you", "profile": "your name", "email": "your address"},
        },
    )


def fill(redirect_uris):
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    for name in PEOPLE:
        User.objects.create_user(name, password=PASSWORD)
    Application.objects.create(
        name="Hazemap",
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        algorithm=Application.RS256_ALGORITHM,
        redirect_uris=" ".join(redirect_uris),
    )


def main():
    folder, port, *redirect_uris = sys.argv[1:]
    configure(Path(folder), f"http://127.0.0.1:{port}/o")
    import django

    django.setup()
    fill(redirect_uris)
    from django.core.wsgi import get_wsgi_application
    from waitress import serve

    serve(get_wsgi_application(), host="127.0.0.1", port=int(port), threads=4)


if __name__ == "__main__":
    main()
