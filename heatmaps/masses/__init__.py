"""Read masses and record means of persons: all of them, or one share of them after the other.

Flat mechanisms weigh a person's check-ins *inside* what is asked about 1 together (design, section 2,
"Mass"): inside the region, or the asked part of it, and inside the asked period, where check-ins without a
time are in none. The rest of the record is left out before shares are taken, so the L1 bound holds whatever
the record. ADD_REMOVE datasets store no check-ins outside the region; REPLACE datasets do, clamped to the
border and flagged, for metric mechanisms, where the whole record counts (`read_means`): they are left out
of masses. A person with nothing inside, or enrolled and in no file, or who opted out before the version was
made, has mass 0; for a mean, that person stands at the region's centre.

All check-ins of a person are in one `Share`, so sums of shares are sums of persons: exact, in integers,
whatever the number of shares. SQLite sums check-ins by person and cell itself (`embedded`); PostgreSQL sends
columns (`columns`), of large uploads those that were packed for it (`packed`), of others two of their rows,
and they are sorted and summed here: it would take several times as long.
"""

from collections.abc import Iterable, Sequence

from django.db import connection

from heatmaps.masses import columns, embedded, partial
from heatmaps.masses.partial import MassPart, Pieces, packed_sums, unpacked_sums
from heatmaps.masses.selection import EVERYBODY, Share
from heatmaps.models import Dataset, DataVersion
from heatmaps.slices import WHOLE, Slice
from mechanisms.interface import MassMap
from mechanisms.item_records import ItemRecords
from mechanisms.joined_masses import JoinedMasses
from mechanisms.point import RecordMeans
from mechanisms.records import MeanSums, means_of

__all__ = [
    "EVERYBODY",
    "Pieces",
    "Share",
    "joined",
    "joined_items",
    "joined_means",
    "packed_sums",
    "read",
    "read_items",
    "read_means",
    "read_part",
    "read_part_of_items",
    "read_part_of_means",
    "unpacked_sums",
]


def read(
    dataset: Dataset,
    version: DataVersion,
    *,
    level: int,
    unit: int,
    asked: Slice = WHOLE,
    share: Share = EVERYBODY,
) -> MassMap:
    """The masses of all persons, or of a share of them, over the cells of one level, in `unit`s per person.

    Reads every upload that a version up to this one included. With a part, the cells are those of the part's
    own grid. Memory on PostgreSQL, where a grid is so fine that nearly every check-in has a cell of its own:
    of uploads with a copy in columns about 20 bytes a check-in here and 15 in the server, of rows without one
    135 and 90; with few cells a fifth less of rows and three quarters less of columns. On SQLite 24 bytes for
    each pair of a person and a cell with check-ins of that person, and a few copies of that.
    """
    reader = columns.masses if connection.vendor == "postgresql" else embedded.masses
    return reader(dataset, version, asked, share, level=level, unit=unit)


def read_means(dataset: Dataset, version: DataVersion, *, enrolled: int, asked: Slice = WHOLE) -> RecordMeans:
    """The sum of the mean positions of all persons enrolled; points outside the region are on its border."""
    return means_of([_means(dataset, version, asked, EVERYBODY)], enrolled=enrolled)


def read_part(
    dataset: Dataset, version: DataVersion, *, level: int, unit: int, asked: Slice, share: Share
) -> Pieces:
    """As `read`, for `joined`: itself, or in pieces of bytes, which are made as they are taken."""
    return MassPart(read(dataset, version, level=level, unit=unit, asked=asked, share=share))


def joined(parts: Iterable[Pieces], *, level: int, unit: int) -> MassMap:
    """What `read` would have said of everybody, from `read_part` of every share."""
    return JoinedMasses(level=level, unit=unit, parts=[partial.run_of(part) for part in parts])


def read_part_of_means(dataset: Dataset, version: DataVersion, *, asked: Slice, share: Share) -> bytes:
    """A share of what `read_means` sums, in bytes for `joined_means`."""
    return partial.packed_means(_means(dataset, version, asked, share))


def joined_means(parts: Sequence[bytes], *, enrolled: int) -> RecordMeans:
    """What `read_means` would have said, from `read_part_of_means` of every share."""
    return means_of([partial.unpacked_means(part) for part in parts], enrolled=enrolled)


def read_items(
    dataset: Dataset, version: DataVersion, *, level: int, asked: Slice = WHOLE, share: Share = EVERYBODY
) -> ItemRecords:
    """Whole records over the cells of one level; points outside the region are on its border."""
    reader = columns.items if connection.vendor == "postgresql" else embedded.items
    return reader(dataset, version, asked, share, level=level)


def read_part_of_items(
    dataset: Dataset, version: DataVersion, *, level: int, asked: Slice, share: Share
) -> bytes:
    """As `read_items`, in bytes for `joined_items`."""
    return partial.packed_items(read_items(dataset, version, level=level, asked=asked, share=share))


def joined_items(parts: Sequence[bytes], *, level: int) -> ItemRecords:
    """What `read_items` would have said of everybody, from `read_part_of_items` of every share."""
    return ItemRecords.joined([partial.unpacked_items(part, level=level) for part in parts])


def _means(dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> MeanSums:
    reader = columns.means if connection.vendor == "postgresql" else embedded.means
    return reader(dataset, version, asked, share)
