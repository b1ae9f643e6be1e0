"""Data versions on a schedule, opt-outs that may be taken back, files sent together, faster check-ins."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


def give_each_entry_its_name(apps, _schema_editor):
    suppressions = apps.get_model("heatmaps", "Suppression").objects
    for row in suppressions.iterator():
        suppressions.filter(pk=row.pk).update(entry=uuid.uuid4())


def of_version():
    return models.ForeignKey(
        "heatmaps.dataversion", django.db.models.deletion.PROTECT, null=True, blank=True, related_name="+"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0008_allowances"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("dataset", "schedule", models.CharField(max_length=40, blank=True, default="")),
        migrations.AddField("dataset", "next_version_at", models.DateTimeField(null=True, blank=True)),
        migrations.AddConstraint(
            "dataset",
            models.CheckConstraint(
                name="dataset_schedule_has_its_moment",
                condition=Q(schedule="", next_version_at=None)
                | (~Q(schedule="") & Q(next_version_at__isnull=False)),
            ),
        ),
        migrations.AddIndex("dataset", models.Index(fields=["next_version_at"], name="version_due")),
        migrations.AlterField(
            "dataversion",
            "created_by",
            models.ForeignKey(
                settings.AUTH_USER_MODEL,
                django.db.models.deletion.PROTECT,
                null=True,
                blank=True,
                related_name="+",
            ),
        ),
        migrations.AddField("dataversion", "due_at", models.DateTimeField(null=True, blank=True)),
        migrations.AddConstraint(
            "dataversion",
            models.UniqueConstraint(fields=["dataset", "due_at"], name="one_version_per_due_moment"),
        ),
        migrations.AddConstraint(
            "dataversion",
            models.CheckConstraint(
                name="version_by_somebody_or_due",
                condition=Q(created_by__isnull=False, due_at=None) | Q(created_by=None, due_at__isnull=False),
            ),
        ),
        migrations.AddField("upload", "batch", models.UUIDField(null=True, blank=True)),
        migrations.AddField("suppression", "entry", models.UUIDField(null=True, editable=False)),
        migrations.RunPython(give_each_entry_its_name, migrations.RunPython.noop),
        migrations.AlterField(
            "suppression", "entry", models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
        ),
        migrations.AddField("suppression", "is_withdrawn", models.BooleanField(default=False)),
        migrations.AddField("suppression", "until", of_version()),
        migrations.RemoveConstraint("suppression", "one_opt_out_per_person"),
        migrations.AddConstraint(
            "suppression",
            models.UniqueConstraint(
                fields=["dataset", "person"], condition=Q(until=None), name="one_open_opt_out_per_person"
            ),
        ),
        migrations.AddConstraint(
            "suppression",
            models.CheckConstraint(
                name="opt_out_ends_after_it_began",
                condition=Q(until=None, is_withdrawn=False) | Q(is_withdrawn=True, version__isnull=False),
            ),
        ),
        migrations.AlterField(
            "checkin",
            "upload",
            models.ForeignKey(
                "heatmaps.upload",
                django.db.models.deletion.CASCADE,
                related_name="checkins",
                db_constraint=False,
            ),
        ),
    ]
