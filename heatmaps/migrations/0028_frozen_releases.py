"""What was reserved is never changed: the database itself refuses, also where the row of a release ended."""

from django.db import migrations, models

from heatmaps.migrations.tables_of_2026.append_only import refuse_changes
from heatmaps.migrations.tables_of_2026.frozen_releases import FROZEN


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0027_heartbeats")]

    operations = [
        migrations.AlterField(
            "drawing",
            "state",
            models.CharField(
                max_length=16,
                choices=[
                    ("running", "running"),
                    ("drawn", "drawn"),
                    ("failed", "failed"),
                    ("refused", "refused"),
                ],
                default="running",
            ),
        ),
        refuse_changes(
            forwards=lambda vendor: [sql for table in FROZEN for sql in table.creating(vendor)],
            backwards=lambda vendor: [sql for table in FROZEN for sql in table.dropping(vendor)],
        ),
    ]
