"""New datasets take a number of JSON for one person however it is spelled: 12, 12.0 and 1.2e1.

Those of before keep numbers as files spell them: their check-ins, opt-outs and enrolments were hashed so.
"""

from django.db import migrations, models

FORMS = [
    ("", "as files have it"),
    ("nfc", "in Unicode's normal form C"),
    ("decimal", "in Unicode's normal form C, numbers of JSON as exact decimals"),
]


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0024_code_tries")]

    operations = [
        migrations.AlterField(
            "dataset",
            "user_form",
            models.CharField(blank=True, choices=FORMS, default="decimal", max_length=8),
        ),
    ]
