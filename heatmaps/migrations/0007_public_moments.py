"""Releases begin and are shown at public moments, and draws have rows of their own.

Datasets of before get the largest size class, whatever they hold: how much that is, is secret.
"""

from datetime import timedelta
from itertools import groupby

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.migrations.exceptions import IrreversibleError
from django.db.models import F
from django.utils import timezone

CLASSES = [
    (100_000, "up to 100,000"),
    (1_000_000, "up to 1 million"),
    (10_000_000, "up to 10 million"),
    (100_000_000, "up to 100 million"),
]
SLOT = timedelta(seconds=300)  # of the largest class, unless it is configured: the clock puts that right


def give_moments(apps, _schema_editor):
    """Reserved releases have slots, one after the other, and the time to wait for them.

    Ended ones are dated as they were asked for: how long a draw took depends on the data, and moments are
    public. A draw that was going on lost its worker to the upgrade: it ends without a result, its charge
    stays.
    """
    releases, now = apps.get_model("heatmaps", "Release").objects, timezone.now()
    releases.update(starts_at=F("requested_at"), visible_at=F("requested_at"))
    reserved = releases.filter(state="reserved").order_by("dataset_id", "requested_at", "pk")
    for _, queue in groupby(reserved, key=lambda release: release.dataset_id):
        for place, release in enumerate(queue):
            release.starts_at = now + place * SLOT
            release.visible_at = release.starts_at + SLOT
            if release.expires_at > now:
                release.expires_at += place * SLOT
            release.save(update_fields=["starts_at", "visible_at", "expires_at"])
    spent = releases.filter(state="spent")
    spent.update(visible_at=now)
    drawing = apps.get_model("heatmaps", "Drawing")
    drawing.objects.bulk_create(
        drawing(release_id=release, state="failed", claimed_at=requested_at)
        for release, requested_at in spent.values_list("pk", "requested_at")
    )


def refuse(_apps, _schema_editor):
    """Ledgers tell of moments and sizes, and rows hold hashes, that the version before takes for wrong."""
    raise IrreversibleError(
        "this database cannot go back: its releases have public moments, which the version before does not "
        "know; restore a backup from before the upgrade"
    )


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0006_one_reserve")]

    operations = [
        # First: a worker of the version before, if one is still there, begins no draw without them.
        migrations.RemoveIndex("release", "release_sweep"),
        migrations.RemoveField("release", "lease_until"),
        migrations.AddField(
            "dataset",
            "row_capacity",
            models.PositiveBigIntegerField(choices=CLASSES, default=100_000_000),
        ),
        migrations.AddField("dataset", "slot_doublings", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("release", "starts_at", models.DateTimeField(default=django.utils.timezone.now)),
        migrations.AddField("release", "visible_at", models.DateTimeField(default=django.utils.timezone.now)),
        migrations.AddField("release", "late", models.PositiveSmallIntegerField(default=0)),
        migrations.CreateModel(
            name="Drawing",
            fields=[
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="drawing",
                        serialize=False,
                        to="heatmaps.release",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "running"), ("drawn", "drawn"), ("failed", "failed")],
                        default="running",
                        max_length=16,
                    ),
                ),
                ("claimed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("lease_until", models.DateTimeField(null=True)),
                ("content", models.BinaryField(null=True)),
                ("sha256", models.CharField(blank=True, default="", max_length=64)),
            ],
            options={"indexes": [models.Index(fields=["state", "lease_until"], name="drawing_sweep")]},
        ),
        migrations.RunPython(give_moments, refuse),
    ]
