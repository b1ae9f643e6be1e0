"""The pictures of the benchmarks, from a few made-up figures."""

import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

from mechanisms.catalogue import registry
from mechanisms.guarantee import Relation
from tests.benchmarks import accuracy, plots, scale_plots
from tests.benchmarks.measure import Figure

SMALL = {"epsilon": "1", "persons": 60, "resolution": 32}


def row(group, name, ratio):
    figure = Figure(name=name, alternative="bare", ours=(ratio,), theirs=(1.0,))
    return figure.row() | {"group": group}


def painted(picture):
    """Pixels of the first colour."""
    first = [round(255 * part) for part in to_rgb(plots.COLOURS[0])]
    return int((np.asarray(picture.convert("RGB")) == first).all(axis=2).sum())


def test_it_draws_a_captioned_picture_of_each_group(tmp_path):
    rows = [
        row("transport", "exact distance", 0.5),
        row("transport", "another", 3),
        *(row("time against resolution", f"laplace, resolution {cells}", cells / 64) for cells in (128, 256)),
    ]

    paths = list(plots.write(rows, tmp_path))

    assert [path.name for path in paths] == ["transport.png", "time-against-resolution.png"]
    for path in paths:
        with Image.open(path) as picture:
            assert picture.width > 800
            assert "in turns" in picture.info["Description"]
            assert len(set(picture.convert("RGB").get_flattened_data())) > 20


def test_a_bar_ends_where_its_ratio_is(tmp_path):
    def bars(ratio):
        (path,) = plots.write([row("transport", "one", ratio), row("transport", "two", 4)], tmp_path)
        with Image.open(path) as picture:
            return painted(picture)

    assert bars(1) < bars(2) < bars(4)


def scaled(checkins, persons, resolution):
    details = {
        "checkins": checkins,
        "persons": persons,
        "resolution": resolution,
        "release": 3.0,
        "group_by": 1.0,
        "worker_cpu": 1.8,
        "worker_peak_mb": 300.0,
        "database_peak_mb": 200.0,
    }
    return row("scale", "release", 3) | {"details": details}


def test_the_picture_of_scale_has_every_size(tmp_path):
    import_row = row("scale", "import", 2) | {"details": {"checkins": 10**5, "rows_a_second": 1.0}}
    sizes = [(10**5, 10**4, 64), (10**5, 10**4, 1024), (10**6, 10**5, 1024), (10**6, 10**3, 1024)]
    rows = [scaled(*size) for size in sizes]

    path = scale_plots.write([import_row, *rows], tmp_path)

    with Image.open(path) as picture:
        assert "group_by" in picture.info["Description"]
        plotted = painted(picture)
    scale_plots.write([import_row, *rows[1:3]], tmp_path)
    with Image.open(path) as picture:
        fewer = painted(picture)
    assert 0 < fewer < plotted


def test_accuracy_is_measured_for_every_mechanism_of_the_catalogue(tmp_path):
    place = accuracy.made_up(0, 20)
    names = {entry.name for entry in registry.entries(relation=Relation.ADD_REMOVE, kind="heatmap")}

    found = [
        point
        for epsilon in ("1", "100")
        for point in accuracy.points_at([place], "epsilon", epsilon, trials=2, usual=SMALL)
    ]

    assert {point.mechanism for point in found} == names
    for name in names:  # a hundred times the budget: no mechanism is as far off
        loose, tight = (point.emd for point in found if point.mechanism == name)
        assert 0 < tight < loose
    with Image.open(accuracy.write(found, tmp_path)) as picture:
        assert picture.width > 1000
    assert found[0].row()["emd"] == found[0].emd
