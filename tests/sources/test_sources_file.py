"""The administrator's file: what is wrong with it is said by source, field, value and what is allowed."""

import pytest

from heatmaps.sources import sources_file
from heatmaps.sources.sources_file import SourcesFileError

FIELDS = {
    "name": '"trips"',
    "kind": '"parquet"',
    "table": '"/lake/checkins"',
    "time_zone": '"Europe/Vienna"',
    "connect": '"sc://localhost:15003"',
    "token_file": '"/run/token"',
    "columns": '{ user = "device", lat = "lat", lon = "lon", time = "seen_at" }',
    "opt_outs": '{ table = "/lake/opt_outs", user = "device" }',
}
ICEBERG = {
    "kind": '"iceberg"',
    "table": '"city.checkins"',
    "catalog": '{ type = "sql", uri = "sqlite:///c" }',
}
ICEBERG |= {"opt_outs": '{ table = "city.opt_outs", user = "device" }'}
COLUMNS = '{{ user = "{}", lat = "{}", lon = "{}" }}'


@pytest.fixture
def read(tmp_path):
    """What is read of a file with these fields instead, or without those that are None."""

    def read(**changes):
        fields = {name: text for name, text in (FIELDS | changes).items() if text is not None}
        lines = [f"{name} = {text}" for name, text in fields.items()]
        path = tmp_path / "sources.toml"
        path.write_text("\n".join(["[[source]]", *lines]))
        return sources_file.read(path)

    return read


def test_a_source_is_what_the_file_says(read):
    [source] = read().values()
    assert (source.name, source.table.kind, source.table.location) == ("trips", "parquet", "/lake/checkins")
    assert (source.opt_outs.kind, source.opt_outs.location) == ("parquet", "/lake/opt_outs")
    assert (source.user, source.lat, source.lon, source.time) == ("device", "lat", "lon", "seen_at")
    assert (source.opted_out_user, source.time_zone) == ("device", "Europe/Vienna")
    assert (source.connect_host, source.connect_port, source.tls) == ("localhost", 15003, False)
    [bare] = read(time_zone=None, columns=COLUMNS.format("u", "a", "b"), connect='"sc://spark"').values()
    assert (bare.time_zone, bare.time, bare.connect_port, bare.tls) == ("UTC", None, 15002, True)
    [open_one] = read(connect='"sc://spark"', tls="false").values()
    assert not open_one.tls
    assert bare.stewards is None
    [shut] = read(stewards='["anna"]').values()
    assert (shut.stewards, shut.fingerprint) == (("anna",), source.fingerprint)


@pytest.mark.parametrize(
    ("field", "text", "told", "allowed"),
    [
        ("name", '"Trips"', "name is 'Trips'", "lower-case"),
        ("name", f'"{"a" * 61}"', "name is 'aaa", "at most 60 characters"),
        ("name", "7", "name is 7", "lower-case"),
        ("name", None, "source 1: name is missing", "lower-case"),
        ("kind", '"csv"', "kind is 'csv'", "parquet or iceberg or delta"),
        ("kind", None, "kind is missing", "parquet or iceberg or delta"),
        ("table", '""', "table is ''", "a folder"),
        ("table", '"lake/checkins"', "table is 'lake/checkins'", "begins with /"),
        ("table", '"/lake\\u0000"', "table is '/lake\\x00'", "a folder"),
        ("table", '"/lake\\nx"', "table is '/lake\\nx'", "a folder"),
        ("time_zone", '"Vienna"', "time_zone is 'Vienna'", "Europe/Vienna"),
        ("time_zone", '"Europe"', "time_zone is 'Europe'", "Europe/Vienna"),
        ("time_zone", '"../../etc/passwd"', "time_zone is '../", "Europe/Vienna"),
        ("time_zone", "2", "time_zone is 2", "Europe/Vienna"),
        ("connect", '"http://localhost"', "connect is 'http", "sc://localhost:15002"),
        ("connect", '"sc://localhost/;token=x"', "connect is 'sc:", "without a path or a token"),
        ("connect", '"sc://u:p@localhost"', "connect is 'sc:", "without a path or a token"),
        ("connect", '"sc://:p@localhost"', "connect is 'sc:", "without a path or a token"),
        ("connect", '"sc://localhost#x"', "connect is 'sc:", "without a path or a token"),
        ("connect", '"sc://localhost:99999"', "connect is 'sc:", "sc://localhost:15002"),
        ("connect", '"sc://"', "connect is 'sc:", "sc://localhost:15002"),
        ("tls", '"no"', "tls is 'no'", "true, or false"),
        ("token_file", None, "token_file is missing", "the path of a file"),
        ("columns", '"user"', "columns must be a table", "columns = {"),
        ("columns", '{ user = "u", lat = "a" }', "columns: lon is missing", "the name of a column"),
        ("columns", '{ user = "u", lat = "a", lon = "b", time = 3 }', "columns: time is 3", "a column"),
        ("columns", '{ user = "u", lat = "a", lon = "b", day = "d" }', "columns: day", "not a known field"),
        ("columns", COLUMNS.format("u", "a", "a"), "columns: lon is 'a'", "another column than that of lat"),
        ("columns", COLUMNS.format("a", "a", "b"), "columns: lat is 'a'", "another column than that of user"),
        ("opt_outs", None, "opt_outs must be a table", "opt_outs = {"),
        ("opt_outs", '{ table = "/x" }', "opt_outs: user is missing", "the name of a column"),
        ("opt_outs", '{ user = "u" }', "opt_outs: table is missing", "a folder"),
        ("opt_outs", '{ table = "/x", user = "u", kind = "csv" }', "opt_outs: kind is 'csv'", "parquet or"),
        ("opt_outs", '{ table = "/x", user = "u", more = 1 }', "opt_outs: more", "not a known field"),
        ("catalog", "{ type = 3 }", "catalog must be", "a table of texts"),
        ("stewards", '"anna"', "stewards is 'anna'", "a list of names of accounts"),
        ("stewards", '["anna", 1]', "stewards is ['anna', 1]", "a list of names of accounts"),
        ("password", '"p"', "password", "not a known field"),
    ],
)
def test_each_wrong_field_is_named_with_what_is_allowed(read, field, text, told, allowed):
    with pytest.raises(SourcesFileError) as refused:
        read(**{field: text})
    message = str(refused.value)
    assert message.startswith("source 1" if field == "name" and text is None else "source ")
    assert told in message
    assert allowed in message
    if field != "name":
        assert message.startswith("source trips")


def test_an_iceberg_table_needs_a_catalog(read):
    with pytest.raises(SourcesFileError, match="source trips: an iceberg table needs catalog"):
        read(**(ICEBERG | {"catalog": None}))
    with pytest.raises(SourcesFileError, match="source trips, opt_outs: an iceberg table needs catalog"):
        read(opt_outs='{ table = "city.gone", user = "u", kind = "iceberg" }')


def test_opt_outs_may_be_in_a_table_of_another_kind_or_catalog(read):
    [source] = read(**ICEBERG).values()
    assert source.opt_outs.catalog == source.table.catalog
    other = '{ table = "a.b", user = "u", catalog = { type = "rest", uri = "https://other" } }'
    [source] = read(**(ICEBERG | {"opt_outs": other})).values()
    assert (source.table.catalog["type"], source.opt_outs.catalog["type"]) == ("sql", "rest")
    plain = '{ table = "/lake/gone", user = "u", kind = "parquet" }'
    [source] = read(**(ICEBERG | {"opt_outs": plain})).values()
    assert (source.opt_outs.kind, source.opt_outs.catalog) == ("parquet", {})
    of_catalog = '{ table = "a.b", user = "u", kind = "iceberg" }'
    [source] = read(opt_outs=of_catalog, catalog='{ type = "rest" }').values()
    assert (source.table.kind, source.table.catalog) == ("parquet", {})
    assert source.opt_outs.catalog == {"type": "rest"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "must hold"),
        (b"name = 1", "must hold"),
        (b"source = []", "must hold"),
        (b"source = [1]", "must be a list of tables"),
        (b"[source]\nname = 'a'", "must hold"),
        (b"[[source]", "is not TOML"),
        (b"\xff\xfe", "cannot be read: UnicodeDecodeError"),
        (b"a = " + b"[" * 100_000, "is not TOML: RecursionError"),
        (b"a = " + b"9" * 10_000, "is not TOML: ValueError"),
    ],
)
def test_a_file_that_is_none_of_sources_is_refused(tmp_path, content, told):
    path = tmp_path / "sources.toml"
    path.write_bytes(content)
    with pytest.raises(SourcesFileError, match=told):
        sources_file.read(path)


def test_a_missing_file_and_a_name_that_is_there_twice_are_refused(tmp_path):
    with pytest.raises(SourcesFileError, match="cannot be read: FileNotFoundError"):
        sources_file.read(tmp_path / "nothing.toml")
    one = "\n".join(["[[source]]", *(f"{name} = {text}" for name, text in FIELDS.items())])
    path = tmp_path / "sources.toml"
    path.write_text(f"{one}\n{one}")
    with pytest.raises(SourcesFileError, match="two sources have the same name"):
        sources_file.read(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"table": '"/lake/other"'},
        {"kind": '"delta"'},
        {"time_zone": '"UTC"'},
        {"columns": '{ user = "other", lat = "lat", lon = "lon", time = "seen_at" }'},
        {"columns": '{ user = "device", lat = "lon", lon = "lat", time = "seen_at" }'},
        {"columns": '{ user = "device", lat = "lat", lon = "lon" }'},
        {"opt_outs": '{ table = "/lake/others", user = "device" }'},
        {"opt_outs": '{ table = "/lake/opt_outs", user = "other" }'},
        {"opt_outs": '{ table = "/lake/opt_outs", user = "device", kind = "delta" }'},
    ],
)
def test_the_fingerprint_is_of_what_is_read(read, changes):
    [before], [after] = read().values(), read(**changes).values()
    assert before.fingerprint != after.fingerprint


def test_the_fingerprint_is_not_of_who_reads_it(read):
    [before] = read().values()
    for changes in ({"connect": '"sc://other:1"'}, {"token_file": '"/run/other"'}, {"name": '"same"'}):
        [after] = read(**changes).values()
        assert before.fingerprint == after.fingerprint


def test_the_fingerprint_of_a_catalog_leaves_passwords_out(read):
    def fingerprint(**catalog):
        facts = {"type": "sql", "uri": "postgresql://city:first@host/catalog"} | catalog
        text = ", ".join(f'{name} = "{value}"' for name, value in facts.items())
        [source] = read(**(ICEBERG | {"catalog": f"{{ {text} }}"})).values()
        assert "first" not in repr(source)
        return source.fingerprint

    assert fingerprint() == fingerprint(uri="postgresql://city:second@host/catalog", credential="x")
    assert fingerprint() != fingerprint(uri="postgresql://city:first@host/other")
    assert fingerprint() != fingerprint(type="rest")
    for name in ("warehouse", "prefix", "glue.id", "glue.region", "client.region", "table-name"):
        assert fingerprint() != fingerprint(**{f'"{name}"': "other"})
    other = '{ table = "city.opt_outs", user = "device", catalog = { type = "rest" } }'
    [same], [apart] = read(**ICEBERG).values(), read(**(ICEBERG | {"opt_outs": other})).values()
    assert same.fingerprint != apart.fingerprint


def test_the_token_is_one_line_of_a_file(read, tmp_path):
    path = tmp_path / "token"
    [source] = read(token_file=f'"{path}"').values()
    with pytest.raises(SourcesFileError, match="source trips: token_file cannot be read"):
        source.token()
    path.write_text("  abc\n")
    assert source.token() == "abc"
    for content in (b"", b"\n", b"a\nb", "é".encode(), b"\xff", b"a\0b"):
        path.write_bytes(content)
        with pytest.raises(SourcesFileError, match="token_file") as refused:
            source.token()
        assert str(path) not in str(refused.value)
