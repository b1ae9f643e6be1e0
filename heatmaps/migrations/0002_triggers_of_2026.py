"""Events are never changed and never deleted: the database itself refuses."""

from django.db import migrations

from heatmaps.migrations.tables_of_2026 import append_only
from heatmaps.migrations.tables_of_2026.append_only import EVENTS, refuse_changes


class Migration(migrations.Migration):
    replaces = [("heatmaps", "0002_event_triggers")]
    dependencies = [("heatmaps", "0001_tables_of_2026")]
    operations = [
        refuse_changes(
            forwards=lambda vendor: append_only.creating_function(vendor) + EVENTS.creating(vendor),
            backwards=lambda vendor: EVENTS.dropping(vendor) + append_only.dropping_function(vendor),
        )
    ]
