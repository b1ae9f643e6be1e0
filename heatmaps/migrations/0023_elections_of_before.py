"""Whatever was drawn before elections were kept had one."""

from django.db import migrations
from django.db.models import Q


def elect_what_was_drawn(apps, _schema_editor):
    releases = apps.get_model("heatmaps", "Release").objects
    drawn = releases.filter(Q(state__in=["published", "failed"]) | Q(drawing__isnull=False))
    election = apps.get_model("heatmaps", "Election")
    keys = drawn.values_list("pk", flat=True).iterator(chunk_size=1000)
    election.objects.bulk_create((election(release_id=key) for key in keys), batch_size=1000)


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0022_installation")]
    operations = [migrations.RunPython(elect_what_was_drawn, migrations.RunPython.noop)]
