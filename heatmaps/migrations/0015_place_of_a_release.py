"""Releases say in one text what part of the world they cover, so that maps of the same place are found."""

from fractions import Fraction

from django.db import migrations, models

LINES = 2**31  # finest cells a side of a region
AT_ONCE = 500


def give_places(apps, _schema_editor):
    """From the region of the dataset and the rectangle of the release, which never change."""
    rows = apps.get_model("heatmaps", "Release").objects
    some = []
    for release in rows.select_related("dataset").only("rectangle", "dataset").iterator(AT_ONCE):
        release.covered = covered(release.dataset, release.rectangle)
        some.append(release)
        if len(some) == AT_ONCE:
            rows.bulk_update(some, ["covered"])
            some = []
    rows.bulk_update(some, ["covered"])


def covered(dataset, rectangle):
    """As `heatmaps.regions.text_of` writes it."""
    west, south, east, north = rectangle or (0, 0, LINES, LINES)
    edges = (
        degrees(west, dataset.west, dataset.east),
        degrees(south, dataset.south, dataset.north),
        degrees(east, dataset.west, dataset.east),
        degrees(north, dataset.south, dataset.north),
    )
    return ",".join(repr(edge + 0.0) for edge in edges)


def degrees(line, low, high):
    """The double nearest to a grid line."""
    return float(Fraction(low) + (Fraction(high) - Fraction(low)) * line / LINES)


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0014_guides")]

    operations = [
        migrations.AddField("release", "covered", models.CharField(blank=True, default="", max_length=100)),
        migrations.RunPython(give_places, migrations.RunPython.noop),
    ]
