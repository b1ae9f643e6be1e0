"""The product's Celery application for `celery -A`, with every draw written down, and slow enough to be
killed in."""

from tests.services.killing import write_down_draws  # sets Django up

from heatmaps.config.celery import app  # isort: skip

__all__ = ["app"]

write_down_draws(seconds=0.15)
