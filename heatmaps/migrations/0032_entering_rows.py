"""The database refuses rows that no event would fit, or that no process could read, of those that stay."""

from django.db import migrations

from heatmaps.migrations.tables_of_2026 import entering_rows
from heatmaps.migrations.tables_of_2026.append_only import refuse_changes


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0031_password_links")]

    operations = [refuse_changes(forwards=entering_rows.creating, backwards=entering_rows.dropping)]
