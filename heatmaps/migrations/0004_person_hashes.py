"""New datasets tell people apart by hashes of 128 bits, of names in normal form C.

Those of before keep the 63 bits, and names as files have them: their check-ins were hashed so.
"""

from django.db import migrations, models
from django.db.models import Q

FORMS = [("", "as files have it"), ("nfc", "in Unicode's normal form C")]


def rest_of_hash(model):
    return migrations.AddField(model, "person_rest", models.BigIntegerField(db_default=0, default=0))


def instead(model, constraint):
    return [
        migrations.RemoveConstraint(model, constraint.name),
        migrations.AddConstraint(model, constraint),
    ]


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0003_reset_links")]

    operations = [
        migrations.AddField("dataset", "person_bits", models.PositiveSmallIntegerField(default=63)),
        migrations.AlterField("dataset", "person_bits", models.PositiveSmallIntegerField(default=128)),
        migrations.AddConstraint(
            "dataset",
            models.CheckConstraint(
                condition=Q(person_bits__in=[63, 128]), name="dataset_persons_have_hashes"
            ),
        ),
        migrations.AddField(
            "dataset", "user_form", models.CharField(blank=True, choices=FORMS, default="", max_length=8)
        ),
        migrations.AlterField(
            "dataset", "user_form", models.CharField(blank=True, choices=FORMS, default="nfc", max_length=8)
        ),
        migrations.AddField("upload", "names_alike", models.PositiveIntegerField(default=0)),
        rest_of_hash("checkin"),
        rest_of_hash("enrolment"),
        rest_of_hash("suppression"),
        *instead(
            "enrolment",
            models.UniqueConstraint(fields=("dataset", "person", "person_rest"), name="enrolled_once"),
        ),
        *instead(
            "suppression",
            models.UniqueConstraint(
                fields=("dataset", "person", "person_rest"),
                condition=Q(until=None),
                name="one_open_opt_out_per_person",
            ),
        ),
    ]
