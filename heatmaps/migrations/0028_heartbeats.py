"""The clock of a deployment leaves word that it runs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0021_sources")]

    operations = [
        migrations.CreateModel(
            "Heartbeat",
            [
                ("name", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("beaten_at", models.DateTimeField()),
            ],
        ),
    ]
