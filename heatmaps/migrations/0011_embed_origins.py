"""A steward lists the websites that may show a dataset's public maps in a frame; none to begin with."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0010_rectangle_of_a_release")]

    operations = [
        migrations.AddField("dataset", "embed_origins", models.JSONField(blank=True, default=list)),
    ]
