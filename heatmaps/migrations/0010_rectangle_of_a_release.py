"""The rectangle that a release is about is called what it is, as everywhere else."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0009_one_worker")]

    operations = [migrations.RenameField("release", "within", "rectangle")]
