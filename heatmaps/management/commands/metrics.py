"""`manage.py metrics`: answers monitors in a process of its own, for deployments with separate workers."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from heatmaps.management import metrics, server


class Command(BaseCommand):
    help = (
        "Tell a monitor (Prometheus) whether the deployment is well, at the address that HAZEMAP_METRICS "
        "names. `serve` does so itself where it is given that variable."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if server.is_embedded():
            raise CommandError("without HAZEMAP_BROKER_URL, `serve` opens HAZEMAP_METRICS itself")
        try:
            with metrics.listener() as listening:
                if listening is None:
                    raise CommandError("set HAZEMAP_METRICS to HOST:PORT, such as 127.0.0.1:9100")
                host, port = listening.getsockname()[:2]
                self.stdout.write(f"Metrics are at http://{host}:{port}/metrics (Ctrl+C stops them)")
                self.stdout.flush()
                metrics.serve(listening)
        except server.CannotServe as refusal:
            raise CommandError(str(refusal)) from None
