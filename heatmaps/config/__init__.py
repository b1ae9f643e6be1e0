"""Settings, URLs, WSGI entry and the Celery application."""

from heatmaps.config.celery import app as celery_app

__all__ = ["celery_app"]
