"""The kept tables: each has its command, and is what that command writes."""

from datetime import date

import pytest

from mechanisms.reproduction import measurements
from mechanisms.reproduction.registry import EXPERIMENTS

# What would be more than a derived figure.
PERSONAL = {"user", "lat", "lon", "time", "latitude", "longitude", "person"}
MOST_ROWS = 200


def test_every_kept_table_is_named_and_every_name_has_its_table():
    assert {path.stem for path in measurements.FOLDER.glob("*.csv")} == set(measurements.SOURCES)


@pytest.mark.parametrize("name", measurements.SOURCES)
def test_a_kept_table_names_a_command_that_exists(name):
    source = measurements.SOURCES[name]
    program, verb, experiment, *files = source.command.split()
    assert (program, verb, experiment) == ("manage.py", "reproduce", name)
    assert files == (["FILE…"] if EXPERIMENTS[experiment].files else [])
    assert source.measured_on <= date.today()
    assert source.data


@pytest.mark.parametrize("name", measurements.SOURCES)
def test_a_kept_table_holds_derived_figures_only(name):
    rows = measurements.table(name).rows
    assert 0 < len(rows) <= MOST_ROWS
    assert not PERSONAL & set(rows[0])
    trials = {row["trials"] for row in rows if "trials" in row}
    assert all(int(number) >= 8 for number in trials)


def test_what_is_kept_cannot_be_changed_in_passing():
    row = measurements.table("heatmap-figure-12").rows[0]
    with pytest.raises(TypeError):
        row["B"] = "5"
