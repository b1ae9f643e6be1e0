"""Variables of the environment about lakes, and where messages about them go."""

from pathlib import Path

import pytest

from heatmaps import sources
from heatmaps.config import environment
from heatmaps.sources.sources_file import SourcesFileError
from mechanisms.check import ParameterError

SLOT, PLACES, FILE = "HAZEMAP_SOURCE_SLOT_SECONDS", "HAZEMAP_SOURCE_PLACES", "HAZEMAP_SOURCES"


def test_there_are_defaults(monkeypatch):
    for name in (SLOT, PLACES, FILE):
        monkeypatch.delenv(name, raising=False)
    assert environment.source_slot_seconds() == 900
    assert environment.source_places() == 1
    assert environment.sources_file() is None
    monkeypatch.setenv(FILE, "  ")
    assert environment.sources_file() is None


def test_they_are_read(monkeypatch):
    monkeypatch.setenv(SLOT, "0.5")
    monkeypatch.setenv(PLACES, " 12 ")
    monkeypatch.setenv(FILE, "lakes.toml")
    assert environment.source_slot_seconds() == 0.5
    assert environment.source_places() == 12
    assert environment.sources_file() == Path("lakes.toml").absolute()


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "nan", "inf", "86400.001"])
def test_a_slot_is_a_length_of_at_most_a_day(monkeypatch, text):
    monkeypatch.setenv(SLOT, text)
    with pytest.raises(RuntimeError, match=SLOT) as refused:
        environment.source_slot_seconds()
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "1.5", "1001", "\N{SUPERSCRIPT TWO}"])
def test_places_are_a_whole_number(monkeypatch, text):
    monkeypatch.setenv(PLACES, text)
    with pytest.raises(RuntimeError, match=PLACES):
        environment.source_places()


def test_a_source_is_one_of_the_file(lake, settings):
    assert sources.named("trips").name == "trips"
    with pytest.raises(ParameterError, match="GET /api/v1/sources/"):
        sources.named("nothing")
    settings.SOURCES_FILE = None
    assert sources.all_by_name() == {}
    with pytest.raises(ParameterError, match="HAZEMAP_SOURCES"):
        sources.named("trips")
    settings.SOURCES_FILE = lake.root / "nothing.toml"
    with pytest.raises(SourcesFileError):
        sources.named("trips")


@pytest.mark.django_db
def test_a_dataset_reads_the_source_it_was_made_with(lake, make_dataset, settings):
    dataset = make_dataset()
    assert sources.of(dataset).name == "trips"
    lake.columns["user"] = "other"
    lake.write()
    with pytest.raises(SourcesFileError, match="was changed since"):
        sources.of(dataset)
    settings.SOURCES_FILE = None
    with pytest.raises(SourcesFileError, match="names no source trips any more"):
        sources.of(dataset)
