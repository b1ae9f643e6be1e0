"""Links for a new password are no rows any more; sessions stand under digests. Those of before are gone."""

from django.db import migrations


def delete(apps, _schema_editor):
    apps.get_model("heatmaps", "OneTimeLink").objects.filter(purpose="reset").delete()
    apps.get_model("sessions", "Session").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0018_second_factors"), ("sessions", "0001_initial")]

    operations = [migrations.RunPython(delete, migrations.RunPython.noop)]
