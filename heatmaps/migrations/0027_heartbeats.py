"""The clock of a deployment leaves word that it runs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0026_sheets_of_guide_files")]

    operations = [
        migrations.CreateModel(
            "Heartbeat",
            [
                ("name", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("beaten_at", models.DateTimeField()),
            ],
        ),
    ]
