"""Wrong codes of second factors are counted by account."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0023_elections_of_before"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CodeTries",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("app", "app code"), ("recovery", "recovery code")], max_length=16
                    ),
                ),
                ("wrong", models.PositiveIntegerField(default=0)),
                ("full_at", models.DateTimeField()),
                ("last_run", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="code_tries",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "kind"), name="code_tries_of_a_kind")
                ],
            },
        ),
    ]
