"""Public maps of a place have an index, the newest first."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0015_place_of_a_release")]

    operations = [
        migrations.AddIndex(
            "release",
            models.Index(
                fields=["covered", "-visible_at"],
                condition=Q(public_since__isnull=False),
                name="release_public_of_a_place",
            ),
        )
    ]
