"""Links for a new password end when the password changes; those of before are dead: they name no password."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0002_triggers_of_2026")]

    operations = [
        migrations.AddField("onetimelink", "password_digest", models.CharField(blank=True, max_length=64)),
    ]
