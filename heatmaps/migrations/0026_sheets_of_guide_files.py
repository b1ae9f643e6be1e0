"""A guide file that is a map of Hazemap keeps what its release sheet says."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0025_numbers_as_names")]

    operations = [
        migrations.AddField("guidefile", "sheet", models.JSONField(blank=True, default=None, null=True)),
    ]
