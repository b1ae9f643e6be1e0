"""`manage.py work`: runs the worker that `manage.py serve` starts; ends with its input."""

from typing import Any

from celery import current_app
from django.core.management.base import BaseCommand

from heatmaps.management import embedded_worker


class Command(BaseCommand):
    help = "Draw and read files for `manage.py serve`, which starts this itself and ends it."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        embedded_worker.work(current_app)
