"""Reads masses, records and means of persons.

Flat mechanisms weigh a person's check-ins *inside* a data slice 1 together (`docs/explanation/law.md`,
"Mass"): inside the region, or the rectangle of it, and inside the period, where check-ins without a
time are in none. The rest of the record is left out before shares are taken, so the L1 bound holds whatever
the record. ADD_REMOVE datasets store no check-ins outside the region; REPLACE datasets do, clamped to the
border and flagged, for metric mechanisms, where the whole record counts (`read_means`): they are left out
of masses. A person with nothing inside, or enrolled and in no file, or who opted out before the version was
made, has mass 0; for a mean, that person stands at the region's centre.

SQLite sums check-ins by person and key itself (`sqlite`); PostgreSQL sends columns (`postgresql`), of large
uploads those that were packed for it (`packed_columns`), of others those of their rows, and they are sorted
and summed here: it would take several times as long. Check-ins that stay in their owner's lake are summed
there (`lake`). They come slot by slot: all check-ins of a person are in one slot, so sums of slots are sums
of persons: exact, in integers. A key is a bin of time and a cell (`mechanisms.records.row_key`): each reader
translates it, as it does the slice.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Final, TypeVar

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.masses import lake, postgresql, sqlite
from heatmaps.models import Dataset, DataVersion
from mechanisms.records.aggregation import means_of
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.records.means import RecordMeans
from mechanisms.records.row_key import RowKey, TimeBins

__all__ = ["of_items", "read", "read_by_bin", "read_items", "read_means"]

Result = TypeVar("Result")
_READERS: Final = {"lake": lake, "postgresql": postgresql, "sqlite": sqlite}


def read(
    dataset: Dataset, version: DataVersion, *, level: int, unit: int, data_slice: DataSlice = WHOLE
) -> MassMap:
    """Reads the masses of all persons over the cells of one level, in `unit`s per person.

    Reads every upload that a version up to this one included. With a rectangle, the cells are those of the
    rectangle's own grid. Memory on PostgreSQL: what the sums take
    (`mechanisms.records.aggregation.sum_of_shares`), and about 100 bytes a check-in of one slot, a 64th of
    those that are packed; of rows that are not, 135 bytes each here and 90 in the server, for about
    `postgresql.ROWS_AT_ONCE` at a time. On SQLite 24 bytes for each pair of a person and a cell with
    check-ins of that person, and a few copies of that.
    """
    [mass_map] = read_by_bin(dataset, version, level=level, unit=unit, data_slice=data_slice)
    return mass_map


def read_by_bin(
    dataset: Dataset,
    version: DataVersion,
    *,
    level: int,
    unit: int,
    bins: TimeBins | None = None,
    data_slice: DataSlice = WHOLE,
) -> tuple[MassMap, ...]:
    """Reads as `read`, a map of each bin of time; a person has one `unit` over all of them together.

    With bins, check-ins without a time are in none and left out before shares are taken. Every reader
    translates the same key (`RowKey`) and the same slice.
    """
    key = RowKey(level=level, rectangle=data_slice.rectangle, bins=bins)
    mass_maps: tuple[MassMap, ...] = _reader(dataset).masses(dataset, version, data_slice, key, unit=unit)
    return mass_maps


def read_means(
    dataset: Dataset, version: DataVersion, *, enrolled: int, data_slice: DataSlice = WHOLE
) -> RecordMeans:
    """Sums the mean positions of all persons enrolled; points outside the region are on its border."""
    return means_of(_reader(dataset).means(dataset, version, data_slice), enrolled=enrolled)


def read_items(
    dataset: Dataset, version: DataVersion, *, level: int, data_slice: DataSlice = WHOLE
) -> ItemRecords:
    """Reads whole records over the cells of one level; points outside the region are on its border."""
    return ItemRecords.concatenated(
        of_items(dataset, version, lambda records: records, level=level, data_slice=data_slice)
    )


def of_items(
    dataset: Dataset,
    version: DataVersion,
    work: Callable[[ItemRecords], Result],
    *,
    level: int,
    data_slice: DataSlice = WHOLE,
) -> list[Result]:
    """Applies `work` to what `read_items` reads, some persons after the others, and returns the results."""
    results: list[Result] = _reader(dataset).items(dataset, version, data_slice, work, level=level)
    return results


def _reader(dataset: Dataset) -> ModuleType:
    return _READERS[dataset.origin.reader()]
