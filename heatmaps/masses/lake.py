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
from heatmaps.sources.question import ColumnKinds, LakeScope
from mechanisms.records.aggregation import MeanSums
from mechanisms.records.mass_map import MassMap
from mechanisms.records.row_key import RowKey
from mechanisms.space.grid import morton_encode


def masses(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, key: RowKey, *, unit: int
) -> tuple[MassMap, ...]:
    """Reads as `heatmaps.masses.read_by_bin`.

    Memory: 24 bytes for each key with any mass, and a few copies of that.
    """
    table = _answer(
        dataset, version, data_slice, lambda columns, scope: question.masses(columns, scope, key, unit=unit)
    )
    rows, columns, units = (_integers(table[name]) for name in ("cell_row", "cell_column", "mass"))
    keys = morton_encode(columns, rows, key.level)
    if key.bins is not None:
        keys = key.integers(_integers(table["bin"]), keys)
    order = np.argsort(keys)
    return key.mass_maps(keys[order], units[order], unit=unit)


def means(dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> list[MeanSums]:
    """Reads as `records.aggregation.mean_sums`, of the persons with check-ins."""
    [row] = _answer(dataset, version, data_slice, question.means).to_pylist()
    return [(int(row["persons"]), int(row["x"]), int(row["y"]))]


def _answer(
    dataset: Dataset,
    version: DataVersion,
    data_slice: DataSlice,
    text: Callable[[ColumnKinds, LakeScope], str],
) -> pa.Table:
    """Returns Spark's answer to a question about the check-ins of a version in a slice."""
    source, tables = sources.of(dataset), sources.tables_of(version)
    scope = LakeScope(region=region_of(dataset), data_slice=data_slice, kept_from=_kept_from(version))
    with sources.opened(source, tables) as lake:
        return lake.ask(text(tables.columns, scope))


def _kept_from(version: DataVersion) -> int | None:
    """Returns the epoch seconds from which check-ins are kept; None: all are."""
    # The strictest rule so far: to keep longer brings nothing back.
    earlier = DataVersion.objects.filter(dataset=version.dataset_id, number__lte=version.number)
    day = earlier.aggregate(day=Max("kept_from"))["day"]
    return None if day is None else int(midnight(day).timestamp())


def _integers(column: pa.ChunkedArray) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Returns a column of whole numbers. Errors: ValueError, without a value in it, for anything else."""
    if column.null_count or not pa.types.is_integer(column.type):
        raise ValueError("sums are whole numbers")
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]] = column.to_numpy().astype(np.int64, copy=False)
    return numbers
