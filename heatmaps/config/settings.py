"""Django settings: the same code embedded (SQLite, in-process worker) and deployed (PostgreSQL, Redis)."""

import os
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import dj_database_url
from csp.constants import NONCE, NONE, SELF
from redis.backoff import NoBackoff
from redis.retry import Retry

from heatmaps.config import environment, logs

BASE_DIR = Path(__file__).resolve().parents[2]
STATE_DIR = environment.state_dir()
KEY_DIR = environment.key_dir(STATE_DIR)
UPLOAD_DIR = STATE_DIR / "uploads"

SECRET_KEY = environment.secret_key(KEY_DIR)
DEBUG = os.environ.get("HAZEMAP_DEBUG", "0") == "1"
ALLOWED_HOSTS = environment.listed("HAZEMAP_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = environment.listed("HAZEMAP_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "heatmaps",
    "api",
]

MIDDLEWARE = [
    "heatmaps.config.request_id.name_requests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
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
            "builtins": ["heatmaps.templatetags.request_id"],
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
else:
    # Seconds; a host that is gone answers nothing, not even a refusal.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
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
    }
# Counts of attempts (`heatmaps.attempts`), for all web processes together; nothing else is cached.
_IN_THIS_PROCESS: dict[str, object] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
CACHES: dict[str, dict[str, object]] = {"default": _IN_THIS_PROCESS, "counters": _IN_THIS_PROCESS}
if CELERY_BROKER_URL.startswith(("redis:", "rediss:")):
    CACHES["counters"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CELERY_BROKER_URL,
        "KEY_PREFIX": "hazemap-attempts",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": Retry(NoBackoff(), 0)},
    }
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
SWEEP_SECONDS = 30.0
CELERY_BEAT_SCHEDULE = {"sweep": {"task": "heatmaps.sweep", "schedule": SWEEP_SECONDS}}

# --- privacy and size limits of the product ------------------------------------------------------

MAX_EPSILON = Fraction(os.environ.get("HAZEMAP_MAX_EPSILON", "20"))
MAX_UPLOAD_BYTES = int(os.environ.get("HAZEMAP_MAX_UPLOAD_BYTES", str(2 * 2**30)))
MAX_REJECTED_SHARE = Fraction(1, 100)
RESERVATION_SECONDS = 24 * 3600
ROWS_PER_SHARD = environment.rows_per_shard()
LEASE_SECONDS = 90  # of a draw; renewed while it goes on (`heatmaps.leases`)

# --- people and tokens ----------------------------------------------------------------------------

LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "datasets"
LOGOUT_REDIRECT_URL = "sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# Requests in 60 seconds, by what is counted (`heatmaps.attempts`): those of a token, sign-ins with a name
# from an address, sign-ins from an address, and readers without an account from an address.
MOST_A_MINUTE = {
    "token": 1200,
    "sign_in_name": 10,
    "sign_in_address": 60,
    "public_address": 120,
    "blur": 10,
}
# Whose address is counted: nobody may name it himself, except a proxy of ours.
PROXIES = 1 if CSRF_TRUSTED_ORIGINS else 0
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
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
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
    "ENUM_NAME_OVERRIDES": {"RelationEnum": "api.serializers.datasets.RELATIONS"},
}

# --- browser ----------------------------------------------------------------------------------------

LEAFLET = find_spec("leaflet")
if LEAFLET is None or LEAFLET.origin is None:
    raise RuntimeError("django-leaflet is not installed; run `make setup`")
STATIC_URL = "static/"
STATIC_ROOT = STATE_DIR / "static"
# Leaflet and Leaflet.draw as django-leaflet packages them; its Django app needs GDAL, its files do not.
STATICFILES_DIRS = [BASE_DIR / "static", Path(LEAFLET.origin).parent / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        # Rasters of a map are embedded in its document as data: URLs; nothing is fetched from elsewhere.
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-src": [SELF],
        "frame-ancestors": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
    }
}
X_FRAME_OPTIONS = "SAMEORIGIN"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = any(o.startswith("https://") for o in CSRF_TRUSTED_ORIGINS)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SESSION_COOKIE_SECURE else None
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008"]  # TLS ends at the operator's proxy

# Uploads always go to disk (mode 600), never into memory.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_TEMP_DIR = str(UPLOAD_DIR)
UPLOAD_DIR.mkdir(mode=0o700, exist_ok=True)
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOGGING = logs.configure(os.environ.get("HAZEMAP_LOG_FORMAT", "text"))
