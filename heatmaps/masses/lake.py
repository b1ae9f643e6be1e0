"""Sums masses and means where the check-ins are: in their owner's lake, by Spark."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from django.db.models import Max

from heatmaps import sources
from heatmaps.data_slice import DataSlice
from heatmaps.ingest.versions.retention import midnight
from heatmaps.models import Dataset, DataVersion
from heatmaps.regions import region_of
from heatmaps.sources import question
from heatmaps.sources.question import Columns, Part
from mechanisms.records.aggregation import MeanSums
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import morton_encode


def masses(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, *, level: int, unit: int
) -> MassMap:
    """As `heatmaps.masses.read`. Memory: 24 bytes for each cell with any mass, and a few copies of that."""
    found = _asked(
        dataset,
        version,
        data_slice,
        lambda columns, part: question.masses(columns, part, level=level, unit=unit),
    )
    rows, columns, units = (_integers(found[name]) for name in ("cell_row", "cell_column", "mass"))
    cells = morton_encode(columns, rows, level)
    order = np.argsort(cells)
    return MassMap(level=level, unit=unit, cells=cells[order], masses=units[order])


def means(dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> list[MeanSums]:
    """As `records.aggregation.mean_sums`, of the persons with check-ins."""
    found = _asked(dataset, version, data_slice, question.means)
    [row] = found.to_pylist()
    return [(int(row["persons"]), int(row["x"]), int(row["y"]))]


def _asked(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, text: Callable[[Columns, Part], str]
) -> pa.Table:
    source, tables = sources.of(dataset), sources.tables_of(version)
    part = Part(region=region_of(dataset), data_slice=data_slice, kept_from=_kept_from(version))
    with sources.opened(source, tables) as lake:
        return lake.ask(text(tables.columns, part))


def _kept_from(version: DataVersion) -> int | None:
    """Epoch seconds. The strictest rule so far: to keep longer brings nothing back."""
    earlier = DataVersion.objects.filter(dataset=version.dataset_id, number__lte=version.number)
    day = earlier.aggregate(day=Max("kept_from"))["day"]
    return None if day is None else int(midnight(day).timestamp())


def _integers(column: pa.ChunkedArray) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Errors: ValueError, without a value in it, where it holds anything else: nothing is rounded here."""
    if column.null_count or not pa.types.is_integer(column.type):
        raise ValueError("sums are whole numbers")
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]] = column.to_numpy().astype(np.int64, copy=False)
    return numbers
