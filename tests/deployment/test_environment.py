"""Variables of the environment that hold numbers: read, or refused by name."""

import pwd
from pathlib import Path

import pytest

from heatmaps.config import environment

SLOTS, PLACES = "HAZEMAP_SLOT_SECONDS", "HAZEMAP_DRAW_PLACES"


def test_it_has_defaults(monkeypatch):
    for name in (SLOTS, PLACES):
        monkeypatch.delenv(name, raising=False)
    assert environment.slot_seconds() == [2, 5, 20, 300]
    assert environment.draw_places() == [4, 4, 2, 1]


def test_it_reads_a_number_for_each_size_class(monkeypatch):
    monkeypatch.setenv(SLOTS, "1e-9, .5,20,86400")
    monkeypatch.setenv(PLACES, "1, 2,3,1000")
    assert environment.slot_seconds() == [1e-9, 0.5, 20, 86_400]
    assert environment.draw_places() == [1, 2, 3, 1_000]


@pytest.mark.parametrize(
    "text", ["", "1", "1,1,1", "1,1,1,1,1", "1,1,1,", "1,1,1,x", "1,1,1,-1", "1,1,1,nan", "1,1,1,inf"]
)
@pytest.mark.parametrize(
    ("name", "read"), [(SLOTS, environment.slot_seconds), (PLACES, environment.draw_places)]
)
def test_it_refuses_what_is_no_number_for_each_size_class(monkeypatch, name, read, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(RuntimeError, match=name) as caught:
        read()
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["0,1,1,1", "1,1,1,86400.001", "1,1,1,1e300"])
def test_it_refuses_slots_of_no_length_or_of_more_than_a_day(monkeypatch, text):
    monkeypatch.setenv(SLOTS, text)
    with pytest.raises(RuntimeError, match=SLOTS):
        environment.slot_seconds()


@pytest.mark.parametrize("text", ["0,1,1,1", "1,1,1,1001", "1,1,1,1.5", "1,1,1,\N{SUPERSCRIPT TWO}"])
def test_it_refuses_places_that_are_no_whole_number_in_range(monkeypatch, text):
    monkeypatch.setenv(PLACES, text)
    with pytest.raises(RuntimeError, match=PLACES):
        environment.draw_places()


def test_the_record_of_an_account_without_a_home_has_the_folder_of_the_system(monkeypatch):
    """Containers often run as a number that no list of accounts contains."""
    for name in ("HOME", "HAZEMAP_RECORD_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert environment.record_dir() == Path("/var/lib/hazemap/record")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", None),
        ("9100", ("127.0.0.1", 9100)),
        (":9100", ("127.0.0.1", 9100)),
        ("0.0.0.0:9100", ("0.0.0.0", 9100)),
        ("metrics.example:65535", ("metrics.example", 65_535)),
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_metrics_are_for_this_machine_alone_where_no_host_is_named(monkeypatch, text, read):
    monkeypatch.setenv("HAZEMAP_METRICS", text)
    assert environment.metrics_address() == read


@pytest.mark.parametrize("text", ["on", "127.0.0.1", "127.0.0.1:", ":0", "65536", "*:9100", ":-1", "a:٣"])
def test_it_refuses_an_address_of_metrics_without_a_port(monkeypatch, text):
    monkeypatch.setenv("HAZEMAP_METRICS", text)
    with pytest.raises(RuntimeError, match="HAZEMAP_METRICS must be HOST:PORT") as caught:
        environment.metrics_address()
    assert repr(text) in str(caught.value)


def test_a_password_file_that_is_not_there_or_empty_is_named(monkeypatch, tmp_path):
    file = tmp_path / "clock"
    monkeypatch.setenv("HAZEMAP_CLOCK_PASSWORD_FILE", str(file))
    for reason in ("No such file or directory", "it is empty"):
        with pytest.raises(RuntimeError, match=f"HAZEMAP_CLOCK_PASSWORD_FILE is .*{reason}") as caught:
            environment.password("CLOCK")
        assert "docs/how-to/upgrade.md" in str(caught.value)
        file.write_text("\n")
    file.write_text("of-the-clock\n")
    assert environment.password("CLOCK") == "of-the-clock"
