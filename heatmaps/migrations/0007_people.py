import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def remember_who_may_create_datasets(apps, _editor):
    """Until now everybody with an account might."""
    profiles = apps.get_model("heatmaps", "Profile").objects
    users = apps.get_model("auth", "User").objects
    profiles.bulk_create(
        [profiles.model(user_id=pk, may_create_datasets=True) for pk in users.values_list("pk", flat=True)]
    )


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0006_results"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Profile",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="profile",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("may_create_datasets", models.BooleanField(default=False)),
            ],
        ),
        migrations.AddField(
            model_name="release",
            name="public_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="membership",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="memberships",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="PeopleRules",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sign_up_by_invitation", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="one_row_of_people_rules")
                ],
            },
        ),
        migrations.CreateModel(
            name="OneTimeLink",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("invitation", "invitation"), ("reset", "new password")], max_length=16
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[("steward", "Steward"), ("analyst", "Analyst"), ("auditor", "Auditor")],
                        max_length=16,
                    ),
                ),
                ("may_create_datasets", models.BooleanField(default=False)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to="heatmaps.dataset",
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "used_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("account__isnull", False),
                                ("dataset", None),
                                ("purpose", "reset"),
                                ("role", ""),
                            ),
                            models.Q(
                                ("account", None),
                                ("dataset__isnull", False),
                                ("purpose", "invitation"),
                                ("role__in", ["steward", "analyst", "auditor"]),
                            ),
                            models.Q(
                                ("account", None), ("dataset", None), ("purpose", "invitation"), ("role", "")
                            ),
                            _connector="OR",
                        ),
                        name="link_has_what_its_purpose_needs",
                    )
                ],
            },
        ),
        migrations.RunPython(remember_who_may_create_datasets, migrations.RunPython.noop),
    ]
