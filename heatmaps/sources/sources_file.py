"""Reads the administrator's file of sources: tables of check-ins that stay in their owner's lake.

TOML, such as

    [[source]]
    name = "trips"
    kind = "iceberg"                # parquet, iceberg or delta
    table = "city.checkins"         # in the catalog; the folder of a parquet or delta table
    time_zone = "Europe/Vienna"     # of times that name no other; UTC if left out
    connect = "sc://localhost:15002"
    token_file = "/run/secrets/spark_token"
    columns = { user = "device", lat = "lat", lon = "lon", time = "seen_at" }
    opt_outs = { table = "city.opt_outs", user = "device" }     # a kind and a catalog of its own, if need be
    stewards = ["anna"]             # accounts that may make datasets of it; left out: all that may make some
    catalog = { type = "rest", uri = "https://catalog.example.org" }

Nothing of it comes from the web. The database keeps a source's name and fingerprint.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self, cast, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

TableKind = Literal["parquet", "iceberg", "delta"]

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_LONGEST_NAME: Final = 60
_COLUMNS: Final = ("user", "lat", "lon", "time")
# Of an Iceberg catalog: which one it is.
CATALOG_FACTS: Final = (
    *("name", "type", "uri", "warehouse", "prefix", "py-catalog-impl", "table-name"),
    *("glue.id", "glue.region", "glue.endpoint", "dynamodb.region", "client.region"),
)
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_TEXT_FOR_OTHERS: Final = (
    "this server cannot read its list of tables in lakes; ask an administrator, who sees why on the page "
    "of a new dataset"
)


class SourcesFileError(RuntimeError):
    """Refuses the file; says which source and field, and what is allowed."""

    code: Final = "sources_file"
    is_for_everybody: ClassVar = False  # its text may name paths and hosts

    def text_for(self, *, administrator: bool) -> str:
        """Returns the reason, for the administrator whose file it is; for others that there is one."""
        return str(self) if administrator or self.is_for_everybody else _TEXT_FOR_OTHERS


class SourceNotTheSame(SourcesFileError):  # noqa: N818 - as the refusals of the ledger
    """Says that a dataset's source is gone from the file, or was changed there."""

    is_for_everybody = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLocation:
    """Says where a table is. `catalog`: what finds an Iceberg table, empty for others."""

    kind: TableKind
    location: str
    catalog: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold its password


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Names a table of check-ins, the table of users who opted out of it, and the Spark that reads both."""

    name: str
    table: TableLocation
    opt_outs: TableLocation
    user: str  # columns
    lat: str
    lon: str
    time: str | None
    opted_out_user: str
    time_zone: str
    connect_host: str
    connect_port: int
    tls: bool
    token_file: Path
    stewards: tuple[str, ...] | None  # names of accounts; administrators need not be among them

    @property
    def fingerprint(self) -> str:
        """Returns the SHA-256 of what decides whose check-ins are read, not of who reads them."""
        facts = {
            "kind": self.table.kind,
            "table": self.table.location,
            "opt_outs_kind": self.opt_outs.kind,
            "opt_outs": self.opt_outs.location,
            "catalog": _catalog_facts(self.table.catalog),
            "opt_outs_catalog": _catalog_facts(self.opt_outs.catalog),
            "columns": [self.user, self.lat, self.lon, self.time or "", self.opted_out_user],
            "time_zone": self.time_zone,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def token(self) -> str:
        """Reads what the Connect server asks for. Errors: `SourcesFileError`."""
        try:
            token = self.token_file.read_text().strip()
        except (OSError, UnicodeError):
            raise SourcesFileError(f"source {self.name}: token_file cannot be read") from None
        if not token.isascii() or not token.isprintable() or not token:
            raise SourcesFileError(f"source {self.name}: token_file must hold one line of ASCII")
        return token


def read(path: Path) -> dict[str, Source]:
    """Reads the sources by name. Errors: `SourcesFileError`."""
    try:
        content = tomllib.loads(path.read_text())
    except (OSError, UnicodeError) as error:
        raise SourcesFileError(f"{path} cannot be read: {type(error).__name__}") from None
    except tomllib.TOMLDecodeError as error:
        raise SourcesFileError(f"{path} is not TOML: {error}") from None
    except (ValueError, RecursionError) as error:  # a number of a million digits, a list in lists in lists
        raise SourcesFileError(f"{path} is not TOML: {type(error).__name__}") from None
    listed = content.pop("source", None)
    if content or not isinstance(listed, list) or not listed:
        raise SourcesFileError(f"{path} must hold [[source]] tables and nothing else")
    sources = [_Fields.of(number, each).source() for number, each in enumerate(listed, 1)]
    by_name = {source.name: source for source in sources}
    if len(by_name) < len(sources):
        raise SourcesFileError(f"{path}: two sources have the same name")
    return by_name


def _catalog_facts(catalog: Mapping[str, str]) -> dict[str, str]:
    """Returns which catalog it is, without a password that its address may hold."""
    facts = {key: catalog.get(key, "") for key in CATALOG_FACTS}
    parts = urlsplit(facts["uri"])
    return facts | {"uri": parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()}


class _Fields:
    """Reads the fields of one table one by one, so that an unknown one is found."""

    def __init__(self, title: str, fields: dict[str, Any]) -> None:
        self._title, self._fields = title, dict(fields)

    @classmethod
    def of(cls, number: int, fields: object) -> Self:
        if not isinstance(fields, dict):
            raise SourcesFileError("source must be a list of tables: write [[source]]")
        return cls(f"source {fields.get('name', number)}", fields)

    def source(self) -> Source:
        """Returns the source that the fields describe. Errors: `SourcesFileError`."""
        name = self._text("name", "lower-case letters, digits and single hyphens", _NAME)
        if len(name) > _LONGEST_NAME:
            raise self._wrong("name", name, f"at most {_LONGEST_NAME} characters")
        columns, opt_outs = self._part("columns"), self._part("opt_outs")
        catalog = self._catalog({})
        table = self._table(catalog)
        host, port = self._connect()
        source = Source(
            name=name,
            table=table,
            opt_outs=opt_outs._table(opt_outs._catalog(catalog), kind=table.kind),
            user=columns._column("user"),
            lat=columns._column("lat"),
            lon=columns._column("lon"),
            time=columns._column("time") if "time" in columns._fields else None,
            opted_out_user=opt_outs._column("user"),
            time_zone=self._time_zone(),
            connect_host=host,
            connect_port=port,
            tls=self._tls(host),
            token_file=Path(self._text("token_file", "the path of a file with the server's token")),
            stewards=self._stewards(),
        )
        for part in (columns, opt_outs, self):
            part._check_empty()
        columns._check_different(source)
        return source

    def _table(self, catalog: Mapping[str, str], kind: TableKind | None = None) -> TableLocation:
        allowed = " or ".join(get_args(TableKind))
        if kind is None or "kind" in self._fields:
            text = self._text("kind", allowed)
            if text not in get_args(TableKind):
                raise self._wrong("kind", text, allowed)
            kind = cast("TableKind", text)
        location = self._text("table", "a folder, or a table of the catalog")
        if kind == "iceberg" and not catalog:
            raise SourcesFileError(f"{self._title}: an iceberg table needs catalog = {{ type = … }}")
        if kind != "iceberg" and not location.startswith("/") and "://" not in location:
            # Spark would look for it in another folder than this process.
            raise self._wrong(
                "table", location, "a whole path that begins with /, or an address such as s3://…"
            )
        return TableLocation(kind=kind, location=location, catalog=catalog if kind == "iceberg" else {})

    def _catalog(self, otherwise: Mapping[str, str]) -> Mapping[str, str]:
        catalog = self._fields.pop("catalog", otherwise)
        if not isinstance(catalog, dict) or not all(isinstance(value, str) for value in catalog.values()):
            raise SourcesFileError(f"{self._title}: catalog must be a table of texts")
        return catalog

    def _connect(self) -> tuple[str, int]:
        allowed = "an address such as sc://localhost:15002, without a path or a token"
        text = self._text("connect", allowed)
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise self._wrong("connect", text, allowed) from None
        more = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
        if parts.scheme != "sc" or not host or more:
            raise self._wrong("connect", text, allowed)
        return host, 15002 if port is None else port

    def _tls(self, host: str) -> bool:
        """Returns whether calls are encrypted."""
        # Between machines they are, unless the file says that nobody listens.
        tls = self._fields.pop("tls", host not in _LOOPBACK)
        if not isinstance(tls, bool):
            raise self._wrong("tls", tls, "true, or false in a network of its own")
        return tls

    def _time_zone(self) -> str:
        if "time_zone" not in self._fields:
            return "UTC"
        text = self._text("time_zone", "a name such as Europe/Vienna")
        try:
            return ZoneInfo(text).key
        except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones is no zone
            raise self._wrong("time_zone", text, "a name such as Europe/Vienna") from None

    def _stewards(self) -> tuple[str, ...] | None:
        names = self._fields.pop("stewards", None)
        if names is None:
            return None
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            raise self._wrong("stewards", names, "a list of names of accounts")
        return tuple(names)

    def _column(self, field_name: str) -> str:
        return self._text(field_name, "the name of a column")

    def _part(self, name: str) -> "_Fields":
        fields = self._fields.pop(name, None)
        if not isinstance(fields, dict):
            raise SourcesFileError(f"{self._title}: {name} must be a table, such as {name} = {{ … }}")
        return _Fields(f"{self._title}, {name}", fields)

    def _text(self, name: str, allowed: str, pattern: re.Pattern[str] | None = None) -> str:
        value = self._fields.pop(name, None)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self._wrong(name, value, allowed)
        if pattern is not None and not pattern.fullmatch(value):
            raise self._wrong(name, value, allowed)
        return value

    def _check_different(self, source: Source) -> None:
        fields: dict[str, str] = {}  # by column
        for name in _COLUMNS:
            column = getattr(source, name)
            if column in fields:
                raise self._wrong(name, column, f"another column than that of {fields[column]}")
            if column is not None:
                fields[column] = name

    def _check_empty(self) -> None:
        if self._fields:
            raise SourcesFileError(f"{self._title}: {sorted(self._fields)[0]} is not a known field")

    def _wrong(self, name: str, value: object, allowed: str) -> SourcesFileError:
        text = "missing" if value is None else repr(value)
        return SourcesFileError(f"{self._title}: {name} is {text}; allowed: {allowed}")
