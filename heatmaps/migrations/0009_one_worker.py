"""One worker reads all that a release is about: shares of persons, and what was read of them, go.

Draws that were shared out ended with the migration that gave draws rows of their own.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0008_indexes_of_moments")]

    operations = [
        migrations.DeleteModel(name="ShardPiece"),
        migrations.DeleteModel(name="Shard"),
        migrations.DeleteModel(name="FanOut"),
    ]
