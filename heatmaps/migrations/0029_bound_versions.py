"""A version's event commits to what it holds, opt-outs are never changed, and rows are held by triggers.

Versions of before get one event a dataset, which commits to the latest and so to those before it; of a lake
also one for each version that a queued release reads.
"""

import time
import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Max, Q

from heatmaps.ledger.events import canonical, event_hash, new_salt
from heatmaps.ledger.version_commitments import Holdings, commitment
from heatmaps.migrations.tables_of_2026 import held_rows
from heatmaps.migrations.tables_of_2026.append_only import refuse_changes

QUEUED = ("reserved", "spent")


def number_the_opt_outs(apps, schema_editor):
    """From which version on each has effect, and a row for each that was taken back."""
    opt_outs = apps.get_model("heatmaps", "Suppression").objects
    for dataset in (
        apps.get_model("heatmaps", "Dataset").objects.filter(suppressions__isnull=False).distinct()
    ):
        following = (dataset.versions.aggregate(last=Max("number"))["last"] or 0) + 1
        own = opt_outs.filter(dataset=dataset)
        own.filter(version=None).update(since=following)
        for version in dataset.versions.filter(pk__in=own.values("version")):
            own.filter(version=version).update(since=version.number)
        ends = own.filter(is_withdrawn=True).annotate(end=F("until__number")).order_by("pk")
        rows = (
            opt_outs.model(
                dataset=dataset,
                entry=uuid.uuid4(),
                person=row.person,
                person_rest=row.person_rest,
                since=row.end or following,
                withdraws=row,
                created_by_id=row.created_by_id,
            )
            for row in ends.iterator(chunk_size=1000)
        )
        opt_outs.bulk_create(list(rows), batch_size=1000)
    if schema_editor.connection.vendor == "postgresql":  # else the table may not be altered any more
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


def bind_the_versions(apps, _schema_editor):
    """After every opt-out has its number: they are part of what a version holds."""
    model = {name: apps.get_model("heatmaps", name) for name in MODELS}
    for ledger in model["Ledger"].objects.order_by("pk"):
        versions = model["DataVersion"].objects.filter(dataset=ledger.dataset_id)
        queued = model["Release"].objects.filter(dataset=ledger.dataset_id, state__in=QUEUED)
        numbers = {versions.aggregate(last=Max("number"))["last"]}
        if ledger.dataset.source:
            numbers |= set(queued.values_list("version__number", flat=True))
        for number in sorted(numbers - {None}):
            versions.filter(number=number).update(salt=new_salt())
            append_commitment(model, ledger, number)


def append_commitment(model, ledger, number):
    holdings = Holdings(
        versions=model["DataVersion"].objects.filter(dataset=ledger.dataset_id),
        uploads=model["Upload"].objects.filter(dataset=ledger.dataset_id),
        opt_outs=model["Suppression"].objects.filter(dataset=ledger.dataset_id),
        states=model["SourceState"].objects.filter(dataset=ledger.dataset_id),
    )
    event = model["Event"](
        dataset_id=ledger.dataset_id,
        sequence=ledger.last_sequence + 1,
        at_microseconds=time.time_ns() // 1000,
        kind="bound",
        before=canonical({}),
        after=canonical({"version": number, "commitment": commitment(holdings, number)}),
        previous_hash=ledger.last_hash,
        salt=new_salt(),
    )
    event.hash = event_hash(event)
    event.save(force_insert=True)
    ledger.last_sequence, ledger.last_hash = event.sequence, event.hash
    ledger.save(update_fields=["last_sequence", "last_hash"])


MODELS = ("Ledger", "DataVersion", "Release", "Upload", "Suppression", "SourceState", "Event")
ITSELF = models.ForeignKey(
    "heatmaps.suppression",
    django.db.models.deletion.PROTECT,
    blank=True,
    null=True,
    related_name="withdrawals",
)


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0028_frozen_releases"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            "dataversion", "salt", models.CharField(blank=True, default="", editable=False, max_length=32)
        ),
        migrations.RemoveConstraint("suppression", "one_open_opt_out_per_person"),
        migrations.RemoveConstraint("suppression", "opt_out_ends_after_it_began"),
        migrations.AddField(
            "suppression", "since", models.PositiveIntegerField(default=1), preserve_default=False
        ),
        migrations.AddField("suppression", "withdraws", ITSELF),
        migrations.RunPython(number_the_opt_outs, migrations.RunPython.noop),
        migrations.RemoveField("suppression", "version"),
        migrations.RemoveField("suppression", "is_withdrawn"),
        migrations.RemoveField("suppression", "until"),
        migrations.AddConstraint(
            "suppression",
            models.CheckConstraint(condition=Q(since__gte=1), name="opt_out_since_a_version"),
        ),
        migrations.AddIndex(
            "suppression",
            models.Index(fields=["dataset", "person", "person_rest"], name="opt_outs_of_person"),
        ),
        migrations.RunPython(bind_the_versions, migrations.RunPython.noop),
        refuse_changes(forwards=held_rows.creating, backwards=held_rows.dropping),
    ]
