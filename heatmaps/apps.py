from django.apps import AppConfig


class HeatmapsConfig(AppConfig):
    """Starts nothing: workers and sweeps are started by `manage.py serve` or by the operator."""

    name = "heatmaps"
    verbose_name = "Hazemap"
