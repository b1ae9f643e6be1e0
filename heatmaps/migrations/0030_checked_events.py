"""The database checks each event and moves the head of its chain; whom a release is shown to follows from it.

Releases that are public without an event stay as they are in their row, and are shown to members alone:
`verify-ledger` names them, and a steward shows them anew.
"""

import json
from uuid import UUID

import django.db.models.deletion
from django.db import migrations, models

from heatmaps.migrations.tables_of_2026 import checked_events
from heatmaps.migrations.tables_of_2026.append_only import refuse_changes


def publish(apps, _schema_editor):
    """The latest event of each release counts; one that cannot be read shows nothing."""
    events, releases, publications = (
        apps.get_model("heatmaps", name).objects for name in ("Event", "Release", "Publication")
    )
    datasets = dict(releases.values_list("pk", "dataset"))
    rows = {}
    for event in events.filter(kind="publication").order_by("dataset", "sequence").iterator():
        try:
            after = json.loads(event.after)
            release, shown = UUID(after["shown_release"]), after["readable_by"] == "everybody"
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if datasets.get(release) == event.dataset_id:
            rows[release] = {"sequence": event.sequence, "is_public": shown}
    publications.bulk_create(publications.model(release_id=pk, **facts) for pk, facts in rows.items())


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0029_bound_versions")]

    operations = [
        migrations.AddField("Ledger", "closed_sequence", models.PositiveBigIntegerField(null=True)),
        migrations.CreateModel(
            "Publication",
            [
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="publication",
                        serialize=False,
                        to="heatmaps.release",
                    ),
                ),
                ("sequence", models.PositiveBigIntegerField()),
                ("is_public", models.BooleanField()),
            ],
        ),
        migrations.RunPython(publish, migrations.RunPython.noop),
        refuse_changes(forwards=checked_events.creating, backwards=checked_events.dropping),
    ]
