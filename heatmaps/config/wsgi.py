"""Provides the WSGI entry point of a deployment: any number of web processes, workers of their own."""

import os

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

from heatmaps.children import notice
from heatmaps.config.celery import app as celery_app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heatmaps.config.settings")
__all__ = ["application", "celery_app"]  # the first request that sends a task does not wait for Celery

application = get_wsgi_application()
if settings.WEB_KEY_DIR is None:
    raise ImproperlyConfigured("web needs its keys: HAZEMAP_WEB_KEY_DIR is none, as for workers")
if settings.CELERY_BROKER_URL.startswith("memory:"):
    raise ImproperlyConfigured(
        "the in-process broker serves one process: use `manage.py serve`, or set HAZEMAP_BROKER_URL=redis://..."
    )
notice.warn()
