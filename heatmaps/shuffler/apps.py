from django.apps import AppConfig


class ShufflerConfig(AppConfig):
    """Starts nothing: `manage.py shuffler serve` does."""

    name = "heatmaps.shuffler"
    label = "shuffler"
    verbose_name = "Hazemap's shuffler"
    default_auto_field = "django.db.models.BigAutoField"
