"""The links that are left are invitations."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0019_no_stored_password_links")]

    operations = [
        migrations.RemoveConstraint("onetimelink", "link_has_what_its_purpose_needs"),
        migrations.RemoveField("onetimelink", "purpose"),
        migrations.RemoveField("onetimelink", "account"),
        migrations.RemoveField("onetimelink", "password_digest"),
        migrations.RenameModel("OneTimeLink", "Invitation"),
        migrations.AddConstraint(
            "invitation",
            models.CheckConstraint(
                name="invitation_has_a_dataset_with_a_role",
                condition=Q(dataset__isnull=False, role__in=["steward", "analyst", "auditor"])
                | Q(dataset=None, role=""),
            ),
        ),
    ]
