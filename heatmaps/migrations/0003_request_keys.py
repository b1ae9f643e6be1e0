"""Idempotency keys get a table: a key may also have been answered with an earlier, free release."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0002_event_triggers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="release", name="one_release_per_idempotency_key"),
        migrations.RemoveField(model_name="release", name="idempotency_key"),
        migrations.CreateModel(
            name="RequestKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=120)),
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="request_keys",
                        to="heatmaps.release",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="requestkey",
            constraint=models.UniqueConstraint(
                fields=["requested_by", "key"], name="one_answer_per_request_key"
            ),
        ),
    ]
