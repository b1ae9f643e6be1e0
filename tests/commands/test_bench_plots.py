"""The pictures of the benchmarks, from a few made-up figures."""

import numpy as np
from PIL import Image

from mechanisms import catalogue
from mechanisms.guarantee import Relation
from tests.bench import accuracy, plots, scale_plots
from tests.bench.measure import Figure

SMALL = {"epsilon": "1", "persons": 60, "resolution": 32}


def row(group, name, ratio):
    figure = Figure(name=name, alternative="bare", seconds=ratio, alternative_seconds=1.0, repeats=1)
    return figure.row() | {"group": group}


def painted(picture):
    """Pixels of the first colour."""
    return int((np.asarray(picture.convert("RGB")) == (11, 110, 117)).all(axis=2).sum())


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


def scaled(checkins, persons, resolution, workers, *, release, busiest=1.0):
    details = {
        "checkins": checkins,
        "persons": persons,
        "resolution": resolution,
        "workers": workers,
        "release": release,
        "group_by": 1.0,
        "busiest_worker_cpu": busiest,
        "busiest_worker_cpu_in_turns": busiest,
        "worker_peak_mb": 300.0,
        "database_peak_mb": 200.0,
    }
    return row("scale", "release", release) | {"details": details}


def test_the_picture_of_scale_has_every_size_and_what_two_workers_bring(tmp_path):
    import_row = row("scale", "import", 2) | {"details": {"checkins": 10**5, "rows_a_second": 1.0}}
    sizes = [(10**5, 10**4, 64), (10**5, 10**4, 1024), (10**6, 10**5, 1024), (10**6, 10**3, 1024)]
    rows = [scaled(*size, 1, release=3, busiest=1.8) for size in sizes]
    rows += [scaled(10**6, 10**5, 1024, 2, release=2), scaled(10**6, 10**5, 64, 2, release=2)]

    path = scale_plots.write([import_row, *rows], tmp_path)

    assert scale_plots.speed_up([one["details"] for one in rows if one["details"]["persons"] == 10**5]) == {
        (10**6, 1024): 1.8  # beside two workers alone there is nothing
    }
    with Image.open(path) as picture:
        assert "group_by" in picture.info["Description"]
        plotted = painted(picture)
    scale_plots.write([import_row, *rows[1:3], rows[4]], tmp_path)
    with Image.open(path) as picture:
        fewer = painted(picture)
    assert 0 < fewer < plotted


def test_accuracy_is_measured_for_every_mechanism_of_the_catalogue(tmp_path):
    place = accuracy.made_up(0, 20)
    names = {entry.name for entry in catalogue.entries(relation=Relation.ADD_REMOVE, kind="heatmap")}

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
    assert accuracy.rows(found)[0]["emd"] == found[0].emd
