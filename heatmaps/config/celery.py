"""The Celery application: one definition for the embedded worker and for a deployment's workers."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heatmaps.config.settings")

app = Celery("hazemap")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["heatmaps"])
# `celery.current_app` in every thread, those of the web server included.
app.set_default()
