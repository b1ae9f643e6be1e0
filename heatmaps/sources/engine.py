"""Asks a Spark Connect server for sums; what it may not be is refused before any data are read.

A killed or curious Spark may leave (person, cell) in files and logs: the server must encrypt what it writes
and sends, keep no event log and no page, log errors alone, and ask for a token. Its messages may hold data:
of an error only the class is told.
"""

import atexit
import logging
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from threading import Timer
from typing import Any, Final

import pyarrow as pa

from heatmaps.sources.manifest import Manifest
from heatmaps.sources.question import CHECKINS, OPT_OUTS
from heatmaps.sources.sources_file import Source, SourcesFileError

REQUIRED: Final[Mapping[str, str]] = {
    "spark.io.encryption.enabled": "true",
    "spark.network.crypto.enabled": "true",
    "spark.authenticate": "true",
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "false",
}
QUIET: Final = ("ERROR", "FATAL", "OFF")
# What would see rows or plans beside the server itself.
LISTENERS: Final = (
    "spark.extraListeners",
    "spark.sql.queryExecutionListeners",
    "spark.sql.streaming.streamingQueryListeners",
    "spark.plugins",
)
_SESSION: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",  # sums that leave 63 bits raise
    "spark.sql.caseSensitive": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",  # what TIMESTAMP means in a question
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
_FILES: Final[Mapping[str, str]] = {
    # Of the files alone: folders' names such as day=… add no column.
    "recursiveFileLookup": "true",
    "datetimeRebaseMode": "CORRECTED",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}
# Columns of a table that has no files, as `manifest.empty` says.
_OF_NOTHING: Final = {"person": "STRING", "lat": "DOUBLE", "lon": "DOUBLE", "time": "TIMESTAMP"}
_USER: Final = "hazemap"  # else the client names the system's user
_CHANNEL: Final[Sequence[tuple[str, int]]] = (
    # A host that is gone answers nothing: asked once in a while, no oftener than servers bear.
    ("grpc.keepalive_time_ms", 360_000),
    ("grpc.keepalive_timeout_ms", 20_000),
)
_RETRIES: Final = {"max_retries": 5, "initial_backoff": 200, "max_backoff": 3_000, "backoff_multiplier": 3.0}
# A server that hangs must not hold its worker: after this the connection is cut, and asked again.
LONGEST_SECONDS: Final = 2 * 3600.0
# The client logs what a server says of an error.
_LOGGERS: Final = (
    "SQLQueryContextLogger",
    "DataFrameQueryContextLogger",
    "pyspark",
    "pyspark.sql.connect",
    "pyspark.sql.connect.logging",
)


class ServerRefused(Exception):  # noqa: N818 - as the refusals of the ledger
    """Says that the Connect server is not safe to ask; the text names settings, for administrators."""

    code: Final = "server_refused"


class ServerAway(Exception):  # noqa: N818 - as above
    """Says that the Connect server does not answer as one; only the class of what it said is kept."""

    code: Final = "server_away"


class QuestionFailed(Exception):  # noqa: N818 - as above
    """Says that Spark did not answer.

    Only the class of its error is kept, as its message may hold data.
    """

    code: Final = "question_failed"


class LakeSession:
    """Asks questions in a session with a Spark that was found safe."""

    def __init__(self, session: Any, source: Source) -> None:
        self._session, self._source = session, source

    def read(self, checkins: Manifest, opt_outs: Manifest) -> None:
        """Says which files questions are about from now on. Errors: `QuestionFailed`."""
        source = self._source
        columns = {"person": source.user, "lat": source.lat, "lon": source.lon}
        if source.time is not None:
            columns["time"] = source.time
        self._view(CHECKINS, checkins, columns)
        self._view(OPT_OUTS, opt_outs, {"person": source.opted_out_user})

    def ask(self, question: str) -> pa.Table:
        """Returns Spark's answer to a question of `heatmaps.sources.question`. Errors: `QuestionFailed`."""
        try:
            table: pa.Table = self._session.sql(question).toArrow()
        except Exception as error:  # noqa: BLE001 - whatever it is, its text may hold data
            raise QuestionFailed(type(error).__name__) from None
        return table

    def _view(self, name: str, manifest: Manifest, columns: Mapping[str, str]) -> None:
        try:
            if manifest.files:
                frame = self._session.read.options(**_FILES).parquet(*manifest.paths)
                frame = frame.select(
                    *(frame[_quoted(column)].alias(alias) for alias, column in columns.items())
                )
            else:
                nulls = [f"CAST(NULL AS {_OF_NOTHING[alias]}) AS {alias}" for alias in columns]
                frame = self._session.range(0).selectExpr(*nulls)
            frame.createOrReplaceTempView(name)
        except Exception as error:  # noqa: BLE001 - as above
            raise QuestionFailed(type(error).__name__) from None


@contextmanager
def lake(source: Source) -> Iterator[LakeSession]:
    """Opens a session, once the server was found safe.

    Errors: `ServerRefused`, `ServerAway`, `SourcesFileError`.
    """
    _check_token_is_asked_for(source)
    with _safe_session(source) as session:
        yield LakeSession(session, source)


@contextmanager
def _safe_session(source: Source) -> Iterator[Any]:
    with ExitStack() as stack:
        try:
            session = stack.enter_context(_session(source, source.token()))
            _check(session)
            for key, value in {**_SESSION, "spark.sql.session.timeZone": source.time_zone}.items():
                session.conf.set(key, value)
        except (ServerRefused, ServerAway, SourcesFileError):
            raise
        except Exception as error:  # noqa: BLE001 - the library has many
            if _is_unauthenticated(error):
                raise ServerRefused(
                    "the Spark server asks for another token than that of token_file"
                ) from None
            raise ServerAway(type(error).__name__) from None
        yield session


def _check(session: Any) -> None:
    version, client = session.version, import_module("pyspark").__version__
    if version != client:
        raise ServerRefused(f"the Spark server is of the version {version}; this client needs {client}")
    for key, required in REQUIRED.items():
        setting = session.conf.get(key, "")
        if setting.lower() != required:
            raise ServerRefused(f"the Spark server has {key} {setting or 'not set'}; it must be {required}")
    level = session.conf.get("spark.log.level", "").upper()
    if level not in QUIET:
        allowed = ", ".join(QUIET)
        raise ServerRefused(f"the Spark server has spark.log.level {level or 'not set'}; allowed: {allowed}")
    for key in LISTENERS:
        if session.conf.get(key, ""):
            raise ServerRefused(f"the Spark server has {key} set; it would see data and must not be")


def _check_token_is_asked_for(source: Source) -> None:
    """Refuses a server that takes any token: everybody in its network could read the lake."""
    try:
        with _session(source, secrets.token_hex(16)) as session:
            session.conf.get("spark.log.level", "")
    except ServerAway:
        raise
    except Exception as error:  # noqa: BLE001 - the library has many
        if _is_unauthenticated(error):
            return
        raise ServerAway(type(error).__name__) from None
    raise ServerRefused("the Spark server asks for no token; set SPARK_CONNECT_AUTHENTICATE_TOKEN there")


def _is_unauthenticated(error: Exception) -> bool:
    """Tells whether the server refused the token."""
    # The library's errors hold the status in their text alone, or in the gRPC error that they came from.
    text = f"{error} {error.__cause__} {error.__context__}"
    return "UNAUTHENTICATED" in text or "Invalid authentication token" in text


@contextmanager
def _session(source: Source, token: str) -> Iterator[Any]:
    connect = _library()
    try:
        session = connect.SparkSession.builder.channelBuilder(_channel(source, token)).create()
        policy = import_module("pyspark.sql.connect.client.retries").DefaultPolicy(**_RETRIES)
        session.client.set_retry_policies([policy])
    except Exception as error:
        if _is_unauthenticated(error):
            raise
        raise ServerAway(type(error).__name__) from None
    cut = Timer(LONGEST_SECONDS, session.client.close)
    cut.daemon = True
    cut.start()
    try:
        yield session
    finally:
        with suppress(Exception):  # what was read was read; the server forgets sessions by itself
            session.stop()
        cut.cancel()
        with suppress(
            AttributeError
        ):  # else each client is kept, with its token, as long as its process lives
            atexit.unregister(session.client._on_exit)


def _library() -> Any:
    """Imports the client, which is installed only where lakes are read."""
    try:
        with _named_main():
            connect = import_module("pyspark.sql.connect.session")
    except ImportError:
        raise ServerAway("pyspark-client is not installed: install hazemap[spark]") from None
    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    return connect


@contextmanager
def _named_main() -> Iterator[None]:
    """Gives the main module a file while the client is imported."""
    # Without one (`python -c`, embedded interpreters) the client believes in a test: it would look for a
    # Spark on this machine and end the process.
    main = sys.modules["__main__"]
    if hasattr(main, "__file__"):
        yield
        return
    main.__file__ = "-c"
    try:
        yield
    finally:
        del main.__file__


def _channel(source: Source, token: str) -> Any:
    core, grpc = import_module("pyspark.sql.connect.client.core"), import_module("grpc")
    host = f"[{source.connect_host}]" if ":" in source.connect_host else source.connect_host
    address = f"{host}:{source.connect_port}"

    class TokenChannel(core.ChannelBuilder):  # type: ignore[misc, name-defined]  # the library is imported late
        """Calls one address, with the token on every call, also where a network of its own has no TLS."""

        host = address

        def toChannel(self) -> Any:  # noqa: N802 - the library calls it so
            if source.tls:
                return self._secure_channel(address, grpc.ssl_channel_credentials())
            return self._insecure_channel(address)

        def metadata(self) -> list[tuple[str, str]]:
            return [("authorization", f"Bearer {token}")]

    return TokenChannel(channelOptions=list(_CHANNEL), params={core.ChannelBuilder.PARAM_USER_ID: _USER})


def _quoted(column: str) -> str:
    """Quotes a column's name: with points in it, it is one column, not a column of a column."""
    return "`" + column.replace("`", "``") + "`"
