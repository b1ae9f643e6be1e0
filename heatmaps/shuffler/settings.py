"""Django settings of the shuffler, which share nothing with the analyser's: no key, database or folder.

| variable | default | meaning |
| --- | --- | --- |
| `HAZEMAP_SHUFFLER_STATE` | `.local/shuffler` | folder (mode 700) of database, round keys and tokens |
| `HAZEMAP_SHUFFLER_HOSTS` | `127.0.0.1,localhost,[::1]` | names this server answers to, separated by commas |
| `HAZEMAP_SHUFFLER_PROXY` | (none) | addresses of the proxy that ends TLS: only it is believed |
| `HAZEMAP_SHUFFLER_POLL_SECONDS` | `5` | how often the analyser is asked |
| `HAZEMAP_SHUFFLER_OPEN_LINK_DAILY` | `100` | most open-link invitations an address gets in 24 hours |
"""

import os
import secrets
import tempfile
from ipaddress import ip_network
from pathlib import Path

from heatmaps.shuffler import files, logs


def _listed(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


os.umask(0o077)
BASE_DIR = Path(__file__).resolve().parents[2]
STATE_DIR = files.private_folder(Path(os.environ.get("HAZEMAP_SHUFFLER_STATE", ".local/shuffler")).absolute())
ROUNDS_DIR = files.private_folder(STATE_DIR / "rounds")
TOKENS_DIR = files.private_folder(STATE_DIR / "tokens")
# Large packets come in through files without a name.
tempfile.tempdir = str(STATE_DIR)

SECRET_KEY = secrets.token_urlsafe(64)  # signs nothing: there are no sessions, cookies or forms
DEBUG = False
ALLOWED_HOSTS = _listed("HAZEMAP_SHUFFLER_HOSTS", "127.0.0.1,localhost,[::1]")
TRUSTED_PROXIES = [ip_network(text) for text in _listed("HAZEMAP_SHUFFLER_PROXY")]
HTTPS = bool(TRUSTED_PROXIES)
HSTS_SUBDOMAINS = False
POLL_SECONDS = float(os.environ.get("HAZEMAP_SHUFFLER_POLL_SECONDS", "5"))
OPEN_LINK_DAILY = int(os.environ.get("HAZEMAP_SHUFFLER_OPEN_LINK_DAILY", "100"))
WRONG_INVITATIONS_A_MINUTE = 20  # of one address

INSTALLED_APPS = ["heatmaps.shuffler"]
MIDDLEWARE = [
    "heatmaps.front.heads.drop_bodies",
    "heatmaps.front.proxy.believe_proxy",
    "heatmaps.shuffler.headers.add_policy",
    "heatmaps.front.headers.add_headers",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]
ROOT_URLCONF = "heatmaps.shuffler.urls"
PAGE_DIR = BASE_DIR / "static" / "contribute"
HPKE_DIR = BASE_DIR / "build" / "front" / "hpke"

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": STATE_DIR / "shuffler.sqlite3",
        "CONN_MAX_AGE": 60,
        "OPTIONS": {
            # A writer takes the lock at BEGIN, so a check and its update see the same row.
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,  # seconds
            # FULL: what was committed to survives a power cut. secure_delete: zeroes what is deleted.
            # Packets are not in here: the log would keep their order of arrival (`life.packet_file`).
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
            "PRAGMA secure_delete=ON;",
        },
    }
}

# `heatmaps.front.headers` writes these, for every answer.
SECURE_CONTENT_TYPE_NOSNIFF = False
SECURE_REFERRER_POLICY = SECURE_CROSS_ORIGIN_OPENER_POLICY = None
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked on this machine, without the proxy
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 2**10  # of whatever is no packet

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
LOGGING = logs.configuration()
