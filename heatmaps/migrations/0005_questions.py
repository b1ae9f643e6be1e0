from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0004_ingest_options")]

    operations = [
        migrations.AddField("release", "since", models.BigIntegerField(blank=True, null=True)),
        migrations.AddField("release", "until", models.BigIntegerField(blank=True, null=True)),
        migrations.AddField("release", "within", models.JSONField(blank=True, null=True)),
    ]
