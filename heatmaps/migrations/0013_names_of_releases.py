"""People give a release a name and a note; those of before have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0012_district_files")]

    operations = [
        migrations.AddField("release", "name", models.CharField(blank=True, default="", max_length=80)),
        migrations.AddField("release", "note", models.CharField(blank=True, default="", max_length=1000)),
        migrations.AddField("release", "is_name_public", models.BooleanField(default=False)),
    ]
