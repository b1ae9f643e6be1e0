"""Read masses: the database counts check-ins by person and cell, numpy makes masses of the counts.

Flat mechanisms, the only ones yet, weigh a person's check-ins *inside* the region 1 together (design,
section 2, "Mass"). ADD_REMOVE datasets store no others; REPLACE datasets do, clamped to the border and
flagged, for metric mechanisms, where the whole record counts: they are left out here. A person with
nothing inside, or enrolled and in no file, or who opted out before the version was made, has mass 0.
"""

from typing import Final

import numpy as np
from django.db.models import Count, Exists, F, OuterRef, QuerySet
from numpy.typing import NDArray

from heatmaps.models import CheckIn, Dataset, DataVersion, Suppression, UploadState
from mechanisms.grid import FINEST_LEVEL
from mechanisms.interface import MassMap
from mechanisms.records import masses_from_counts

CHUNK_ROWS: Final = 20_000  # fetched at once from the database
_ROW = np.dtype((np.int64, 3))


def read(dataset: Dataset, version: DataVersion, *, level: int, unit: int) -> MassMap:
    """The masses of all persons over the cells of one level, in `unit`s per person.

    Reads every upload that a version up to this one included. Memory: 24 bytes for each pair of a person
    and a cell with check-ins of that person, and a few copies of that.
    """
    up = 2 * (FINEST_LEVEL - level)
    counts = _counts(dataset, version, up).iterator(chunk_size=CHUNK_ROWS)
    rows: NDArray[np.int64] = np.fromiter(counts, _ROW)  # (k, 3): person, cell, check-ins
    # Any finest cell below the counted one stands for it.
    return masses_from_counts(rows[:, 0], rows[:, 1] << up, rows[:, 2], level=level, unit=unit)


def _counts(dataset: Dataset, version: DataVersion, up: int) -> "QuerySet[CheckIn, tuple[int, int, int]]":
    """Rows (person, cell, check-ins), by aggregation in the database."""
    inside = CheckIn.objects.filter(
        upload__dataset=dataset,
        upload__state=UploadState.READY,
        upload__version__number__lte=version.number,
        outside=False,
    )
    opted_out = Suppression.objects.filter(dataset=dataset, version__number__lte=version.number)
    if opted_out.exists():
        inside = inside.exclude(Exists(opted_out.filter(person=OuterRef("person"))))
    cells = inside.annotate(counted_cell=F("cell").bitrightshift(up)).values("person", "counted_cell")
    return cells.annotate(checkins=Count("pk")).order_by().values_list("person", "counted_cell", "checkins")
