"""Asks Spark for sums over people's check-ins, in SQL made from public facts alone.

Two views hold what is read: `checkins` with the columns person, lat, lon and, if there is one, time, as the
files have them, and `opt_outs` with the column person. What is computed is what `heatmaps.ingest` and
`mechanisms.records.aggregation` compute of the same rows, bit for bit; the texts hold numbers only, of the
region, the grid and the part of the data that is asked about.

Traps. A literal such as -98.3 is a decimal in Spark, so numbers are cast from text. `trim` takes spaces
only, unless it is told all that Python's `strip` takes; a pattern in its place would need the square of a
long name's spaces. To cast a clock's reading at the end of time raises. `div` divides whole numbers; `/`
never does. NaN is above all numbers. Nothing here can fail because of a row: what may leave 63 bits is a
decimal, or raises where only a record of 2^32 check-ins reaches it.
"""

from dataclasses import dataclass
from typing import Final, Literal

from heatmaps.data_slice import WHOLE, DataSlice
from mechanisms.check import power_of_two
from mechanisms.records.aggregation import MAX_UNIT
from mechanisms.records.means import PARTS
from mechanisms.records.row_key import RowKey, TimeBins
from mechanisms.space.grid import FINEST_LEVEL, Region

CHECKINS: Final = "checkins"
OPT_OUTS: Final = "opt_outs"
LONGEST_USER: Final = 1000  # bytes, as in uploads
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 to 9999

UserKind = Literal["text", "number"]
TimeKind = Literal["instant", "local", "none"]  # a moment; a clock's reading in the session's zone; no column

# What Python's `str.strip` takes away, itself and not escaped: a setting of Spark says what escapes mean.
_SPACES: Final = "".join(chr(code) for code in range(0x10000) if chr(code).isspace())


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnKinds:
    """Says what the columns of check-ins and of opt-outs hold."""

    user: UserKind
    time: TimeKind
    opted_out: UserKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeScope:
    """Says which check-ins a question is about: of a region, of a slice of the data, and kept."""

    region: Region
    data_slice: DataSlice = WHOLE
    kept_from: int | None = None  # epoch seconds: what is older, or has no time, is not read


def masses(columns: ColumnKinds, scope: LakeScope, key: RowKey, *, unit: int) -> str:
    """Returns the question for rows (cell_row, cell_column, mass), one for each cell that has any mass.

    The cells are of the grid of the key's rectangle, or of the region. With bins, rows are (bin, cell_row,
    cell_column, mass) and check-ins without a time are left out. As
    `mechanisms.records.aggregation.masses_by_bin`: a person with k check-ins that have a key, c of them the
    same one, adds floor(unit · c / k) to its sum.
    """
    power_of_two(1, MAX_UNIT, unit=unit)
    group = "cell_row, cell_column" if key.bins is None else "bin, cell_row, cell_column"
    return f"""
        SELECT {group}, sum(mass) AS mass FROM (
            SELECT {group}, {_share(unit)} AS mass FROM (
                SELECT {group}, checkins,
                    sum(checkins) OVER (PARTITION BY person) AS of_person
                FROM (
                    SELECT person, {group}, count(*) AS checkins
                    FROM ({_keys(columns, scope, key)})
                    GROUP BY person, {group}
                )
            )
        ) WHERE mass > 0 GROUP BY {group}
    """


def means(columns: ColumnKinds, scope: LakeScope) -> str:
    """Returns the question for one row (persons, x, y): people with check-ins, sums of their mean positions.

    As `mechanisms.records.aggregation.mean_sums`; points outside the region are on its border.
    """
    located = f"""
        SELECT person, {_nearest_longitude(scope.region)} AS lon, {_nearest_latitude(scope.region)} AS lat
        FROM ({_counted(columns, scope)})
    """
    return f"""
        SELECT count(*) AS persons, coalesce(sum({_mean("columns")}), 0) AS x,
            coalesce(sum({_mean("rows")}), 0) AS y
        FROM (
            SELECT person, CAST(count(*) AS DECIMAL(19, 0)) AS checkins,
                CAST(sum(finest_column) AS DECIMAL(19, 0)) AS columns,
                CAST(sum(finest_row) AS DECIMAL(19, 0)) AS rows
            FROM ({_finest(located, scope.region)})
            GROUP BY person
        )
    """


def persons(columns: ColumnKinds, *, most: int) -> str:
    """Returns the question for everybody (person) with a check-in that counts, at most `most` rows.

    Wherever and whenever it was.
    """
    return f"SELECT DISTINCT person FROM ({_valid(columns)}) LIMIT {most}"


def invalid(columns: ColumnKinds) -> str:
    """Returns the question for one row (checkins, opt_outs, no_lon, no_lat, no_time, no_user).

    All rows of both tables, and the check-ins that are left out, by their first reason.
    """
    return f"""
        SELECT count(*) AS checkins, (SELECT count(*) FROM {OPT_OUTS}) AS opt_outs,
            count_if(NOT ({_HAS_LON})) AS no_lon,
            count_if({_HAS_LON} AND NOT ({_HAS_LAT})) AS no_lat,
            count_if({_HAS_LON} AND {_HAS_LAT} AND NOT ({_HAS_TIME})) AS no_time,
            count_if({_HAS_LON} AND {_HAS_LAT} AND {_HAS_TIME} AND NOT ({_HAS_PERSON})) AS no_user
        FROM ({_read(columns)})
    """


_LONGEST_NUMBER: Final = 100  # characters of a whole number that is written as text
# Of a reading in none of the years 1 to 9999, a second in none of them.
_LOCAL_SECOND: Final = f"""
    CASE WHEN time BETWEEN TIMESTAMP_NTZ '0001-01-01 00:00:00' AND TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'
        THEN unix_seconds(CAST(time AS TIMESTAMP)) WHEN time IS NOT NULL THEN {LAST_SECOND + 1}L END
"""
_HAS_LON: Final = "lon IS NOT NULL AND abs(lon) <= 180D"  # NaN is above all numbers
_HAS_LAT: Final = "lat IS NOT NULL AND abs(lat) <= 90D"
_HAS_TIME: Final = f"(second IS NULL OR second BETWEEN {FIRST_SECOND} AND {LAST_SECOND})"
_HAS_PERSON: Final = f"(person IS NOT NULL AND octet_length(person) BETWEEN 1 AND {LONGEST_USER})"
_VALID: Final = " AND ".join((_HAS_LON, _HAS_LAT, _HAS_TIME, _HAS_PERSON))


def _double(value: float) -> str:
    return f"CAST('{value!r}' AS DOUBLE)"


def _person(kind: UserKind) -> str:
    """Translates a person to text without white space around it; NULL where it is none."""
    if kind == "number":
        return "CAST(person AS STRING)"
    return f"CASE WHEN is_valid_utf8(person) THEN trim(BOTH '{_SPACES}' FROM person) END"


def _opted_out(columns: ColumnKinds) -> str:
    """Translates who opted out to how the check-ins write them: 007 is the number 7, as is 7.0."""
    person = _person(columns.opted_out)
    if columns.user == columns.opted_out:
        return person
    number = f"regexp_replace({person}, '^(-?)[+]?0*([0-9]+)([.]0*)?$', '$1$2')"
    return f"CASE WHEN octet_length({person}) <= {_LONGEST_NUMBER} THEN {number} END"


def _read(columns: ColumnKinds) -> str:
    second = {
        "instant": "unix_seconds(time)",
        "local": _LOCAL_SECOND,
        "none": "CAST(NULL AS BIGINT)",
    }[columns.time]
    return f"""
        SELECT {_person(columns.user)} AS person, {second} AS second,
            CAST(lat AS DOUBLE) AS lat, CAST(lon AS DOUBLE) AS lon
        FROM {CHECKINS}
    """


def _valid(columns: ColumnKinds) -> str:
    """Returns the check-ins of people who did not opt out."""
    opted_out = f"SELECT {_opted_out(columns)} AS person FROM {OPT_OUTS}"
    return f"""
        SELECT read.person, read.second, read.lat, read.lon
        FROM (SELECT * FROM ({_read(columns)}) WHERE {_VALID}) AS read
        LEFT ANTI JOIN ({opted_out}) AS opted_out ON read.person = opted_out.person
    """


def _counted(columns: ColumnKinds, scope: LakeScope) -> str:
    """Returns those of the period, of days that are kept."""
    # Comparing with no time at all is not true.
    bounds = []
    if scope.kept_from is not None:
        bounds.append(f"second >= {scope.kept_from}")
    if scope.data_slice.since is not None:
        bounds.append(f"second >= {scope.data_slice.since}")
    if scope.data_slice.until is not None:
        bounds.append(f"second < {scope.data_slice.until}")
    where = f"WHERE {' AND '.join(bounds)}" if bounds else ""
    return f"SELECT * FROM ({_valid(columns)}) {where}"


def _keys(columns: ColumnKinds, scope: LakeScope, key: RowKey) -> str:
    """Returns (person, cell_row, cell_column) of the check-ins that have a key, and with bins the bin."""
    west, south, east, north = map(_double, scope.region)
    has_time = "" if key.bins is None else " AND second IS NOT NULL"
    inside = f"""
        SELECT person, {_bin(key.bins)}lon, lat FROM ({_counted(columns, scope)})
        WHERE lon >= {west} AND lon <= {east} AND lat >= {south} AND lat <= {north}{has_time}
    """
    carried = "" if key.bins is None else "bin, "
    finest, rectangle = _finest(inside, scope.region, carried), key.rectangle
    if rectangle is None:
        up = FINEST_LEVEL - key.level
        return f"""
            SELECT person, {carried}shiftright(finest_row, {up}) AS cell_row,
                shiftright(finest_column, {up}) AS cell_column
            FROM ({finest})
        """
    # Offsets are below 2^31 and levels at most 31: the products stay below 2^62.
    wide, high = rectangle.east - rectangle.west, rectangle.north - rectangle.south
    return f"""
        SELECT person, {carried}(finest_row - {rectangle.south}L) * {1 << key.level}L div {high}L AS cell_row,
            (finest_column - {rectangle.west}L) * {1 << key.level}L div {wide}L AS cell_column
        FROM ({finest})
        WHERE finest_column >= {rectangle.west} AND finest_column < {rectangle.east}
            AND finest_row >= {rectangle.south} AND finest_row < {rectangle.north}
    """


def _bin(bins: TimeBins | None) -> str:
    """Translates `TimeBins.of`; the seconds are those of the years 1 to 9999."""
    return "" if bins is None else f"pmod(second - {bins.start}L, {bins.period}L) div {bins.width}L AS bin, "


def _finest(located: str, region: Region, carried: str = "") -> str:
    """Returns (person, finest_row, finest_column) of (person, lat, lon) in the region, as `Region.morton`.

    carried: columns that are taken along, with commas behind them.
    """
    # The division may round across an edge, by one cell at most: the published edges decide.
    guessed = f"""
        SELECT person, {carried}lon, lat, {_guess("lon", region.west, region.east)} AS near_column,
            {_guess("lat", region.south, region.north)} AS near_row
        FROM ({located})
    """
    return f"""
        SELECT person, {carried}{_corrected("lat", "near_row", region.south, region.north)} AS finest_row,
            {_corrected("lon", "near_column", region.west, region.east)} AS finest_column
        FROM ({guessed})
    """


_LAST: Final = (1 << FINEST_LEVEL) - 1


def _step(low: float, high: float) -> float:
    return (high - low) / (1 << FINEST_LEVEL)


def _guess(value: str, low: float, high: float) -> str:
    cell = f"floor(({value} - {_double(low)}) / {_double(_step(low, high))})"
    return f"greatest(least(CAST({cell} AS BIGINT), {_LAST}L), 0L)"


def _corrected(value: str, near: str, low: float, high: float) -> str:
    at, step = f"CAST({near} AS DOUBLE)", _double(_step(low, high))
    lower = f"({_double(low)} + {at} * {step})"
    upper = f"({_double(low)} + ({at} + 1D) * {step})"
    return f"""
        (CASE WHEN {near} < {_LAST}L AND {value} >= {upper} THEN {near} + 1L
            WHEN {near} > 0L AND {value} < {lower} THEN {near} - 1L ELSE {near} END)
    """


def _nearest_longitude(region: Region) -> str:
    """Translates `Region.clamped`: the border nearer around the earth, the east one where both are."""
    west, east = _double(region.west), _double(region.east)
    behind, ahead = f"({west} - lon)", f"(lon - {east})"
    return f"""
        CASE WHEN {behind} > 0D THEN
                CASE WHEN 360D - ({east} - lon) <= {behind} THEN {east} ELSE {west} END
            WHEN {ahead} > 0D THEN
                CASE WHEN {ahead} <= 360D - (lon - {west}) THEN {east} ELSE {west} END
            ELSE lon END
    """


def _nearest_latitude(region: Region) -> str:
    return f"least(greatest(lat, {_double(region.south)}), {_double(region.north)})"


def _share(unit: int) -> str:
    """Returns floor(unit · checkins / of_person), of decimals where the product would leave 63 bits."""
    exact = f"CAST(CAST({unit} AS DECIMAL(19, 0)) * CAST(checkins AS DECIMAL(19, 0)) div of_person AS BIGINT)"
    return f"""
        CASE WHEN checkins <= {(2**63 - 1) // unit}L THEN {unit}L * checkins div of_person ELSE {exact} END
    """


# As `_mean` has it: two parts a cell.
if PARTS != 2 << FINEST_LEVEL:
    raise RuntimeError("positions are counted in halves of the finest cells")


def _mean(sums: str) -> str:
    """Returns the nearest whole part to Σ (2 · cell + 1) / checkins: middles of cells, in half cells."""
    twice = f"(4 * {sums} + 2 * checkins)"
    return f"CAST(({twice} + checkins) div (2 * checkins) AS DECIMAL(19, 0))"
