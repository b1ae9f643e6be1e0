from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0010_shards")]

    operations = [
        migrations.AddField("release", "delta", models.CharField(default="0/1", max_length=80)),
    ]
