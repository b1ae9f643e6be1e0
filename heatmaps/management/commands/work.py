"""`manage.py work`: runs the worker that `manage.py serve` starts; ends with its input."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.module_loading import import_string

from heatmaps.management import embedded_worker


class Command(BaseCommand):
    help = "Draw and read files for `manage.py serve`, which starts this itself and ends it."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        embedded_worker.work(import_string(settings.TASK_APPLICATION))
