"""Finds, pins and sums tables of check-ins that stay in their owner's lake, there and by Spark.

An administrator names them in a file (`sources_file`). A data version pins the files of a table as they are
(`tables`, `manifest`); a question is SQL made from public facts alone (`question`), which a Spark Connect
server that was found safe answers (`engine`). Nothing of a row is stored here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models.functions import Length

from heatmaps.models import Dataset, DataVersion, SourceState
from heatmaps.sources import looks, manifest, sources_file, tables
from heatmaps.sources.engine import LakeSession, lake
from heatmaps.sources.manifest import FilesAway, FilesChanged, Manifest
from heatmaps.sources.question import ColumnKinds
from heatmaps.sources.sources_file import Source, SourceNotTheSame, SourcesFileError
from mechanisms.check import ParameterError

# Of a stored manifest whose files a request looks at: some 20,000 files.
LISTED_BYTES: Final = 2**21


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Holds the states of a source's two tables, and what their columns hold."""

    checkins: Manifest
    opt_outs: Manifest
    columns: ColumnKinds
    rows: tuple[int, int] | None = None  # of check-ins and opt-outs, by their files; of a version not told

    def check_rows(self, checkins: int, opt_outs: int) -> None:
        """Refuses other numbers of rows in Spark than the files hold. Errors: `TableRefused`."""
        # Spark leaves out files whose names it takes for notes, and says nothing.
        if self.rows != (checkins, opt_outs):
            raise manifest.TableRefused(
                f"Spark reads {checkins} check-ins and {opt_outs} opt-outs, but the files hold others; "
                "names of files must not begin with _ or ., or be there twice"
            )

    def store(self, dataset: Dataset, *, rows: int, invalid: dict[str, int]) -> SourceState:
        """Stores them for a version that is to be."""
        return SourceState.objects.create(
            dataset=dataset,
            snapshot=self.checkins.snapshot,
            opt_outs_snapshot=self.opt_outs.snapshot,
            checkins=self.checkins.to_bytes(),
            opt_outs=self.opt_outs.to_bytes(),
            columns=asdict(self.columns),
            rows=rows,
            invalid=invalid,
        )

    def check(self) -> None:
        """Checks that the files are as they were. Errors: `FilesChanged`, `FilesAway`."""
        self.checkins.check()
        self.opt_outs.check()


def all_by_name() -> dict[str, Source]:
    """Returns the sources of the administrator's file; none without a file. Errors: `SourcesFileError`."""
    return {} if settings.SOURCES_FILE is None else sources_file.read(settings.SOURCES_FILE)


def offered(creator: User) -> dict[str, Source]:
    """Returns the sources that somebody may make datasets of. Errors: `SourcesFileError`."""
    # Each dataset has a budget of its own.
    return {
        name: source
        for name, source in all_by_name().items()
        if source.stewards is None or creator.is_superuser or creator.username in source.stewards
    }


def named(name: str) -> Source:
    """Returns a source. Errors: `ParameterError` naming what there is; `SourcesFileError`."""
    sources = all_by_name()
    if name not in sources:
        there = "GET /api/v1/sources/" if sources else "none: the administrator sets HAZEMAP_SOURCES"
        raise ParameterError("source", name, f"a source of this server ({there})")
    return sources[name]


def of(dataset: Dataset) -> Source:
    """Returns a dataset's source, while it is what it was made with. Errors: `SourcesFileError`."""
    name = dataset.source
    source = all_by_name().get(name)
    if source is None:
        raise SourceNotTheSame(f"HAZEMAP_SOURCES names no source {name} any more")
    if source.fingerprint != dataset.source_fingerprint:
        raise SourceNotTheSame(
            f"the source {name} was changed since the dataset was made; give the changed one a name of its "
            "own, and this one its table, columns and time zone back"
        )
    return source


def pinned(source: Source) -> Tables:
    """Pins the tables as they are now. Errors: `TableRefused`."""
    columns = {source.user: manifest.USER, source.lat: manifest.NUMBER, source.lon: manifest.NUMBER}
    if source.time is not None:
        columns[source.time] = manifest.TIME
    checkins = tables.pinned(source.table, columns)
    opt_outs = tables.pinned(source.opt_outs, {source.opted_out_user: manifest.USER})
    user = manifest.user_kind(checkins, source.user)
    opted_out = manifest.user_kind(opt_outs, source.opted_out_user)
    if (user, opted_out) == ("text", "number") and opt_outs.rows and checkins.rows:
        raise manifest.TableRefused(
            "users are text in the check-ins and numbers in the opt-outs, where 007 is 7: write text in both"
        )
    return Tables(
        checkins=checkins.manifest,
        opt_outs=opt_outs.manifest,
        columns=ColumnKinds(user=user, time=manifest.time_kind(checkins, source.time), opted_out=opted_out),
        rows=(checkins.rows, opt_outs.rows),
    )


def tables_of(version: DataVersion) -> Tables:
    """Returns a version's tables."""
    state = SourceState.objects.get(version=version)
    return Tables(
        checkins=Manifest.from_bytes(bytes(state.checkins)),
        opt_outs=Manifest.from_bytes(bytes(state.opt_outs)),
        columns=ColumnKinds(**state.columns),
    )


def has_times(dataset: Dataset) -> bool:
    """Tells whether a period can be asked about, as far as is known: once a table was looked at."""
    states = SourceState.objects.filter(dataset=dataset, version__isnull=False)
    columns = states.order_by("-version__number").values_list("columns", flat=True).first()
    return columns is None or columns["time"] != "none"


def check_retention(dataset: Dataset, days: int) -> None:
    """Errors: `ParameterError` where check-ins have no times; `SourcesFileError`."""
    check_times(of(dataset), days)


def check_times(source: Source, days: int) -> None:
    """Errors: `ParameterError` where a source has no times, by which check-ins could be left out."""
    if source.time is None:
        allowed = "nothing; the source has no column of times, by which check-ins would be left out"
        raise ParameterError("retention_days", days, allowed)


def may_be_read(version: DataVersion) -> bool:
    """Tells whether the files are what they were, as far as is seen, of a source that is what it was.

    Errors: `SourcesFileError`: the administrator's file is wrong, names the source no more, or another one
    than the dataset was made with.
    """
    of(version.dataset)
    return is_as_pinned(version)


def can_be_read(version: DataVersion) -> bool:
    """Tells the same as `may_be_read`; False, too, where the administrator's file does not say."""
    try:
        return may_be_read(version)
    except SourcesFileError:
        return False


def is_as_pinned(version: DataVersion) -> bool:
    """Tells whether the files are what they were; True where this process does not see them in time."""
    state = SourceState.objects.filter(version=version)
    [sizes] = state.annotate(a=Length("checkins"), b=Length("opt_outs")).values_list("a", "b")
    if max(sizes) > LISTED_BYTES:
        return True  # too long to be read while somebody waits
    stored = tables_of(version)

    def look() -> bool:
        return _is_as_listed(stored.checkins) and _is_as_listed(stored.opt_outs)

    return looks.result_in_time(version.dataset.source, look) is not False


def _is_as_listed(stored: Manifest) -> bool:
    if not stored.files or not manifest.folder_is_here(stored.files[0].path):
        return True
    try:
        stored.check_listed()
    except FilesAway:
        return True
    except FilesChanged:
        return False
    return True


@contextmanager
def opened(source: Source, pinned_tables: Tables) -> Iterator[LakeSession]:
    """Opens a safe Spark that reads these states of the tables, which are the same before and after.

    Errors: `FilesChanged` and `FilesAway`, also after the block; those of `engine.lake`.
    """
    pinned_tables.check()
    with lake(source) as session:
        session.read(pinned_tables.checkins, pinned_tables.opt_outs)
        yield session
    pinned_tables.check()
