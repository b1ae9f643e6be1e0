"""A Spark that is not safe is refused by the name of its setting, before it is asked about any data."""

import signal
import socket
import sys
import time
from collections.abc import Mapping

import pytest

from heatmaps.sources import engine, sources_file
from heatmaps.sources.engine import QuestionFailed, ServerAway, ServerRefused
from heatmaps.sources.sources_file import SourcesFileError
from tests.services.programs import found_or_skip
from tests.sources.lake import Lake
from tests.sources.spark import SAFE, Spark

WRONG = {
    "spark.io.encryption.enabled": "false",
    "spark.network.crypto.enabled": "false",
    "spark.authenticate": "false",
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
    "spark.eventLog.enabled": "true",
    "spark.log.level": "INFO",
    "spark.extraListeners": "org.apache.spark.scheduler.StatsReportListener",
}
UNSET = {name: value for name, value in SAFE.items() if name != "spark.log.level"}


def source_of(folder, server):
    return sources_file.read(Lake(folder, server).sources_file)["trips"]


def refusal(source, *, within=engine.lake):
    with pytest.raises(ServerRefused) as refused, within(source):
        pytest.fail("it was not refused")
    assert str(source.token_file) not in str(refused.value)
    return str(refused.value)


@pytest.mark.long
def test_each_unsafe_setting_is_refused_by_name(tmp_path, monkeypatch):
    found_or_skip(Spark)
    log = tmp_path / "events"
    log.mkdir()
    settings = WRONG | {"spark.eventLog.dir": f"file://{log}"}
    with Spark.started(settings, master="local[1]", asks_for_token=False) as server:
        source = source_of(tmp_path / "lake", server)
        assert refusal(source) == (
            "the Spark server asks for no token; set SPARK_CONNECT_AUTHENTICATE_TOKEN there"
        )
        required, listeners = engine.REQUIRED, engine.LISTENERS
        for key, value in required.items():  # one after the other, as if the others were right
            monkeypatch.setattr(engine, "REQUIRED", {key: value})
            told = refusal(source, within=engine._safe_session)
            assert told == f"the Spark server has {key} {WRONG[key]}; it must be {value}"
        monkeypatch.setattr(engine, "REQUIRED", {})
        told = refusal(source, within=engine._safe_session)
        assert told == "the Spark server has spark.log.level INFO; allowed: ERROR, FATAL, OFF"
        monkeypatch.setattr(engine, "QUIET", ("INFO",))
        told = refusal(source, within=engine._safe_session)
        assert told == "the Spark server has spark.extraListeners set; it would see data and must not be"
        monkeypatch.setattr(engine, "LISTENERS", ())
        with engine._safe_session(source):
            pass  # nothing else is wrong with it
        assert set(listeners) >= {"spark.extraListeners", "spark.plugins"}


@pytest.mark.long
def test_a_setting_that_is_left_out_is_refused(tmp_path, monkeypatch):
    found_or_skip(Spark)
    with Spark.started(UNSET, master="local[1]") as server:
        source = source_of(tmp_path / "lake", server)
        assert refusal(source) == ("the Spark server has spark.log.level not set; allowed: ERROR, FATAL, OFF")
        server.token_file.write_text("another")
        assert refusal(source) == "the Spark server asks for another token than that of token_file"
        monkeypatch.setattr("pyspark.__version__", "4.1.9")
        server.token_file.write_text(server.token)
        told = refusal(source)
        assert told.startswith("the Spark server is of the version ")
        assert told.endswith("this client needs 4.1.9")
        server.token_file.unlink()
        with pytest.raises(SourcesFileError, match="token_file cannot be read"), engine.lake(source):
            pass


@pytest.mark.long
def test_a_server_that_hangs_holds_nobody_for_ever(tmp_path, monkeypatch):
    found_or_skip(Spark)
    monkeypatch.setattr(engine, "LONGEST_SECONDS", 3.0)
    with Spark.started(master="local[1]") as server:
        source = source_of(tmp_path / "lake", server)
        with engine._safe_session(source) as session:
            server.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            with pytest.raises(QuestionFailed) as failed:
                engine.LakeSession(session, source).ask("SELECT 1")
        assert time.monotonic() - began < 60
        assert str(failed.value).isidentifier()


def test_what_is_required_is_what_the_tests_get_wrong():
    assert {name: WRONG[name] for name in engine.REQUIRED} != engine.REQUIRED
    assert all(WRONG[name] != value for name, value in engine.REQUIRED.items())
    assert isinstance(engine.REQUIRED, Mapping)


@pytest.mark.long
def test_a_server_that_is_away_is_told_by_its_error_alone(tmp_path):
    source = source_of(tmp_path / "lake", None)
    began = time.monotonic()
    with pytest.raises(ServerAway) as away, engine.lake(source):
        pass
    assert str(away.value).isidentifier()
    assert time.monotonic() - began < 60


@pytest.mark.long
def test_a_server_that_hangs_up_is_away(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        lake = Lake(tmp_path / "lake")
        lake.sources_file.write_text(
            lake.sources_file.read_text().replace("localhost:9", f"localhost:{listener.getsockname()[1]}")
        )
        source = sources_file.read(lake.sources_file)["trips"]
        with pytest.raises(ServerAway) as away, engine.lake(source):
            pass
        assert str(away.value).isidentifier()


def test_a_client_that_is_not_installed_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.session", None)
    source, told = (
        source_of(tmp_path / "lake", None),
        r"pyspark-client is not installed: install hazemap\[spark\]",
    )
    with pytest.raises(ServerAway, match=told), engine.lake(source):
        pass
