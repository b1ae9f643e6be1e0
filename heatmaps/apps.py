from django.apps import AppConfig


class HeatmapsConfig(AppConfig):
    """Starts nothing: workers and sweeps are started by `manage.py serve` or by the operator."""

    name = "heatmaps"
    verbose_name = "Hazemap"


class FileCommandsConfig(AppConfig):
    """Offers the commands that work on files (`heatmaps.config.file_commands`), without models."""

    name = "heatmaps"
    default = False

    def import_models(self) -> None:
        self.models = {}
