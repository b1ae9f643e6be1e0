"""Sets Django up: the same code embedded (SQLite, in-process worker) and deployed (PostgreSQL, Redis)."""

import os
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import dj_database_url
from csp.constants import NONCE, NONE, SELF

from heatmaps.children import kernel
from heatmaps.config import (
    database_settings,
    environment,
    key_folders,
    logs,
    private_files,
    sign_in_provider,
    streets,
)
from heatmaps.config.sign_in import *  # noqa: F403  # every name there is a setting

private_files.keep_new_files_private()
kernel.hide_memory()  # before a key or password is read
BASE_DIR = Path(__file__).resolve().parents[2]
PROGRAM = environment.program(BASE_DIR)
STATE_DIR = environment.state_dir()
KEY_DIR = key_folders.key_dir(STATE_DIR)
WEB_KEY_DIR, WEB_KEYS = key_folders.web_key_dir(KEY_DIR), key_folders.OF_WEB
RECORD_DIR = environment.record_dir()
WITNESS_DIR = environment.witness_dir()
IN_CONTAINER = os.environ.get("HAZEMAP_CONTAINER", "0") == "1"
# Web writes uploads, which workers read; workers write lists of rejected rows, which web reads.
UPLOAD_DIR = environment.shared_dir("HAZEMAP_UPLOAD_DIR", STATE_DIR / "uploads")
REJECTED_DIR = environment.shared_dir("HAZEMAP_REJECTED_DIR", STATE_DIR / "rejected")

SECRET_KEY = key_folders.signing_key(WEB_KEY_DIR)
SECOND_FACTOR_KEY = key_folders.second_factor_key(WEB_KEY_DIR)
# Read when a file is kept, which the web server alone does: workers make none.
KEPT_FILES_KEY = partial(key_folders.kept_files_key, WEB_KEY_DIR)
DEBUG = os.environ.get("HAZEMAP_DEBUG", "0") == "1"
ALLOWED_HOSTS = environment.listed("HAZEMAP_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = environment.listed("HAZEMAP_ORIGINS")
TRUSTED_PROXIES = environment.trusted_proxies(CSRF_TRUSTED_ORIGINS)
HTTPS = any(origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS)
HSTS_SUBDOMAINS = os.environ.get("HAZEMAP_HSTS_SUBDOMAINS", "0") == "1"

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "knox",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "heatmaps",
    "api",
]

MIDDLEWARE = [
    "heatmaps.config.request_id.name_requests",
    "heatmaps.front.heads.drop_bodies",
    "heatmaps.front.cookies.drop_cookies",
    "heatmaps.front.charset.read_utf8",
    "heatmaps.ledger.administrator_reads.know_request",
    "heatmaps.front.proxy.believe_proxy",
    # Headers and policy before everything that may answer by itself: with a redirection, a file, an error.
    "heatmaps.front.headers.add_headers",
    "csp.middleware.CSPMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Before anything of the database is believed, sessions first of all.
    "heatmaps.views.on_hold.refuse_on_hold",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "heatmaps.views.account.confirming.AsksToConfirm",
    "heatmaps.views.account.second_factor.AsksForSecondFactor",
    "heatmaps.views.errors.SaysBusy",
]

ROOT_URLCONF = "heatmaps.config.urls"
WSGI_APPLICATION = "heatmaps.config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
            "builtins": [
                "heatmaps.templatetags.numbers",
                "heatmaps.templatetags.request_id",
                "heatmaps.templatetags.program",
            ],
        },
    },
]

# --- database ---------------------------------------------------------------------------------

DATABASES = {
    "default": dj_database_url.parse(
        environment.service_url("DATABASE") or f"sqlite:///{STATE_DIR / 'hazemap.sqlite3'}",
        conn_max_age=60,
        conn_health_checks=True,
    )
}
SQLITE_OPTIONS = {
    # A writer takes the lock at BEGIN, so a check and its update see the same balance.
    "transaction_mode": "IMMEDIATE",
    # Seconds. Writers queue without an order: under a rush the last of many may wait long.
    "timeout": 60,
    # FULL: a spend that was committed survives a power cut, not only a crash of this process.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    private_files.tighten(*private_files.files_of_database(str(DATABASES["default"]["NAME"])))
else:
    # Seconds; a host that is gone answers nothing, not even a refusal.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
    DATABASES["default"]["OPTIONS"] = database_settings.pinned(DATABASES["default"]["OPTIONS"])
# What `grant-roles` gives the roles of web, workers and clock (`heatmaps.management.database_roles`);
# elsewhere empty.
DATABASE_ROLE_PASSWORDS = {role: environment.password(role) for role in ("WEB", "WORKER", "CLOCK")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- background work --------------------------------------------------------------------------

CELERY_BROKER_URL = environment.service_url("BROKER") or "memory://localhost/"
if CELERY_BROKER_URL.startswith("memory:"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.05}  # seconds; the default is 1
else:
    # A request that finds the broker down is answered at once: the database knows what is to be done.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.1,
        "socket_connect_timeout": 2,
        # A broker that hangs holds up no request and no release's moment for longer.
        "socket_timeout": 5,
    }
    CELERY_BROKER_TRANSPORT = "heatmaps.broker.transport:Transport"
    CELERY_WORKER_CONSUMER = "heatmaps.broker.consumer:Consumer"
# Loaded by the processes that send or run tasks: most commands do neither.
TASK_APPLICATION = "heatmaps.config.celery.app"
CELERY_TASK_ROUTES = {
    "heatmaps.release": {"queue": "draws"},
    "heatmaps.source_release": {"queue": "lakes"},
    "heatmaps.survey": {"queue": "surveys"},
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
SWEEP_SECONDS = 30.0
# How long clock and workers may be silent, or database and broker take to answer, before they are missing: a
# tick that cancels many releases of another version, or a worker of a busy machine, takes seconds.
SILENCE_SECONDS = 20.0

# --- privacy and size limits of the product ------------------------------------------------------

MAX_EPSILON = Fraction(os.environ.get("HAZEMAP_MAX_EPSILON", "20"))
# Less is of no use to anybody but those who count by asking again and again.
MIN_EPSILON = Fraction(1, 1000)
# Questions that cost something, in 24 hours.
MOST_QUESTIONS_A_DAY = {"person": 200, "dataset": 500}
# Time to change one's mind: the earliest a release begins after it was asked for.
START_SECONDS = 0
_SIZE_CLASSES = (100_000, 1_000_000, 10_000_000, 100_000_000)  # `models.RowCapacity`
SLOT_SECONDS = dict(zip(_SIZE_CLASSES, environment.slot_seconds(), strict=True))
# Draws at once over all datasets of a size class. A place is taken until the release's public moment, however
# long its draw takes: so nobody's waiting tells how long another dataset's draw was.
DRAW_PLACES = dict(zip(_SIZE_CLASSES, environment.draw_places(), strict=True))
# The same of datasets that are read in an owner's lake, and the administrator's file of these.
SOURCE_SLOT_SECONDS = environment.source_slot_seconds()
SOURCE_PLACES = environment.source_places()
SOURCES_FILE = environment.sources_file()
MAX_UPLOAD_BYTES = int(os.environ.get("HAZEMAP_MAX_UPLOAD_BYTES", str(2 * 2**30)))
MAX_DISTRICT_BYTES = int(os.environ.get("HAZEMAP_MAX_DISTRICT_BYTES", str(4 * 2**20)))
RENDERED_DIR = private_files.folder(STATE_DIR / "rendered")
PLANNING_DIR = STATE_DIR / "planning"
PLANNING_SECONDS = 15.0  # for all that one request plans in children
RENDERED_BYTES = environment.rendered_bytes()
MAX_REJECTED_SHARE = Fraction(1, 100)
RESERVATION_SECONDS = 24 * 3600
# Of a draw; renewed while it goes on (`heatmaps.releases.draws`). Short: a worker that dies makes short slots
# late.
LEASE_SECONDS = 12

# --- people and tokens ----------------------------------------------------------------------------

SIGN_IN_PROVIDER = sign_in_provider.sign_in_provider()
SOCIALACCOUNT_PROVIDERS = sign_in_provider.for_allauth(SIGN_IN_PROVIDER)
PROVIDER_SECONDS = 5  # for one answer of it, to its last byte
# Requests in 60 seconds, by what is counted (`heatmaps.http.attempt_limits`): those of a token, sign-ins with
# a name from an address, with a name from all addresses that are new to it, from an address, and readers
# without an account from an address; tiles and parts of files by themselves.
MOST_A_MINUTE = {
    "token": 1200,
    "sign_in_name": 10,
    "sign_in_account": 20,
    "sign_in_address": 60,
    "public_address": 120,
    "blur": 10,
    "example": 30,
    "areas": 60,
    "guides": 3,
    "tiles": 1200,
}
KNOX_TOKEN_MODEL = "heatmaps.ApiToken"  # noqa: S105  # the name of a model, no secret
REST_KNOX = {
    "AUTH_HEADER_PREFIX": "Bearer",
    "TOKEN_TTL": None,
    "TOKEN_MODEL": KNOX_TOKEN_MODEL,
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["api.permissions.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["api.throttles.TokenThrottle"],
    "DEFAULT_THROTTLE_RATES": {scope: f"{most}/min" for scope, most in MOST_A_MINUTE.items()},
    "DEFAULT_PARSER_CLASSES": ["api.parsers.StrictJson"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "api.negotiation.OneRepresentation",
    "DEFAULT_SCHEMA_CLASS": "api.schema.OperationSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Hazemap",
    "VERSION": "1",
    "DESCRIPTION": "Private location heatmaps with a budget ledger. Amounts of ε and δ are exact decimals in "
    "strings. Every refusal is a problem detail (RFC 9457) with a stable `code`.",
    "SERVE_INCLUDE_SCHEMA": False,
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,  # what a PATCH needs is needed
    "COMPONENT_NO_READ_ONLY_REQUIRED": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "DeviceMechanismEnum": "api.serializers.collections.MECHANISMS",
        "GuideKindEnum": "api.serializers.guides.KINDS",
        "MechanismEnum": "api.serializers.releases.MECHANISMS",
        "RelationEnum": "api.serializers.datasets.RELATIONS",
        "RoundStateEnum": "api.serializers.collections.ROUND_STATES",
        "TrustEnum": "api.serializers.releases.TRUSTS",
    },
}

# --- browser ----------------------------------------------------------------------------------------

LEAFLET = find_spec("leaflet")
if LEAFLET is None or LEAFLET.origin is None:
    raise RuntimeError("django-leaflet is not installed; run `make setup`")
STATIC_URL = "static/"
STATIC_ROOT = None  # nothing is collected: what is served lies where the program was installed
# Leaflet and Leaflet.draw as django-leaflet packages them; its Django app needs GDAL, its files do not.
STATICFILES_DIRS = [BASE_DIR / "static", Path(LEAFLET.origin).parent / "static"]
# What `make setup` takes of npm packages.
FRONT_DIR = BASE_DIR / "build" / "front"
STATICFILES_DIRS += [FRONT_DIR] if FRONT_DIR.is_dir() else []
GROUND_DIR = BASE_DIR / "build" / "ground"  # coast, water and borders, by `manage.py ground`
PLACES_DIR = GROUND_DIR / "places"  # names of places, by the same command
MANUAL_DIR = BASE_DIR / "build" / "manual"  # of `make docs`
METRICS_ADDRESS = environment.metrics_address()
BASEMAP = streets.basemap()
TILES = streets.tiles()
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        # Rasters of a map are embedded in its document as data: URLs; nothing is fetched from elsewhere. For
        # tiles of HAZEMAP_TILES, `heatmaps.views.basemap` adds their host to pages that show them.
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-src": [SELF],
        "frame-ancestors": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
    }
}
# `heatmaps.front.headers` writes these, for every answer.
SECURE_CONTENT_TYPE_NOSNIFF = False
SECURE_REFERRER_POLICY = SECURE_CROSS_ORIGIN_OPENER_POLICY = None
WHITENOISE_ALLOW_ALL_ORIGINS = False
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True  # no script of ours reads either
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:
    # Browsers take such a name only by TLS, for this very host and all of its paths: no other host sets it.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
MESSAGE_STORAGE = "heatmaps.http.messages.OnceStorage"  # in the session: in no cookie of their own
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked on this machine, without the proxy
# What `heatmaps.front.headers` does, and TLS that ends at the operator's proxy.
SILENCED_SYSTEM_CHECKS = [f"security.W{number:03}" for number in (2, 4, 6, 8, 22)]

# Uploads always go to disk (mode 600), never into memory.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_TEMP_DIR = str(UPLOAD_DIR)
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOGGING = logs.configure(os.environ.get("HAZEMAP_LOG_FORMAT", "text"))
