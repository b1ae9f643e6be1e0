"""The clock and the daily number of questions have indexes."""

from django.db import migrations, models
from django.db.models import Q

INDEXES = [
    models.Index(fields=["state", "visible_at"], name="release_due"),
    models.Index(
        fields=["dataset", "starts_at"], condition=Q(state__in=["reserved", "spent"]), name="release_queue"
    ),
    models.Index(fields=["dataset", "requested_at"], name="release_of_dataset_by_day"),
    models.Index(fields=["requested_by", "requested_at"], name="release_of_person_by_day"),
]


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0007_public_moments")]

    operations = [migrations.AddIndex("release", index) for index in INDEXES]
