"""What administrators did with somebody's sign-in; whether all need a second factor and stewards' invitations
make accounts."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def _by() -> models.ForeignKey:
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0017_collections"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("profile", "password_link_at", models.DateTimeField(null=True)),
        migrations.AddField("profile", "password_link_by", _by()),
        migrations.AddField("profile", "factor_removed_at", models.DateTimeField(null=True)),
        migrations.AddField("profile", "factor_removed_by", _by()),
        migrations.AddField("profile", "closed_at", models.DateTimeField(null=True)),
        migrations.AddField("peoplerules", "second_factor", models.BooleanField(default=False)),
        migrations.AlterField("peoplerules", "sign_up_by_invitation", models.BooleanField(default=True)),
    ]
