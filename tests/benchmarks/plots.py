"""A picture of each group of benchmarks: ratios only, which another machine would show much the same."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mechanisms.reproduction.exhibit import COLOURS

Row = Mapping[str, object]

RESOLUTION = re.compile(r"(?P<name>.+), resolution (?P<resolution>\d+)")
CAPTIONS = {
    "samplers and releases": """Discrete Laplace draws at the scale of one person's mass at ε = 0.1;
        releases of 2,000 made-up persons around 40 places (seed 0) at ε = 1. Medians; both in turns.""",
    "time against resolution": """Time of a release of 2,000 made-up persons around 40 places (seed 0)
        at ε = 1, divided by the same mechanism's at the coarsest grid. Medians of 5, in turns.""",
    "scale": """Made-up check-ins in PostgreSQL (tests/synthetic.py, seed 0): a Parquet file through the whole
        upload against bare COPY of what it stores; releases (sparse-emd, from the request to the map
        that is drawn, through Celery) against pyarrow's group_by of the same rows in memory, with one
        thread.""",
    "lakes": """Made-up check-ins (tests/synthetic.py, seed 0), ten a person, in Parquet files: masses on
        1,024 squares a side by Spark with two executors of one core, from the first word to the masses,
        against DuckDB with two threads and 2 GB of memory on the same files. Once, with the same masses.""",
    "shuffled sums": """Calibration of the sums of a million persons' shuffled bits (ε = 0.02 a step up to 6
        steps, δ = 1e-6, caches emptied) against one convolution of the law of such a sum with itself; the
        three pieces of the protocol for 10^5 participants with whole numbers from 0 to 1000, beside packed
        bits of numpy's own generator. Medians.""",
    "collections": """Processor time of a device (drawing, sealing), of the analyser (opening, analysing) and
        of the shuffler's closing, against bare HPKE of as many texts of the same size.""",
    "collections at published settings": """The same at n, ε, δ, radius and squares of Tables 2 and 3 of
        Athanasiou et al. 2025; Table 2 on a strip of squares whose longer axis has its 1,000 values.""",
    "maps in Chromium": """A release of 2,000 made-up persons as one file against a page of Leaflet with a
        rectangle: time to the first paint with content; time of a frame while the mouse drags the map.
        Medians of 5, in turns.""",
    "transport": "Exact distances of maps beside public exact solvers of the same problem; CPU, in turns.",
    "start": """CPU seconds and memory of the command until it has helped, and until it has drawn 10,000
        check-ins (adaptive, 256 cells a side), beside a process that imports Django and numpy.""",
    "the command": """CPU seconds and memory of whole processes, from a file to the map on 256 cells a side,
        beside DuckDB with one thread: floor(2^24·k/t) by person, added up by cell. In turns.""",
    "lists and pages": """CPU seconds and queries of requests to an installation with 50 datasets and 500
        releases, beside a bare Django view behind the same sign-in that answers as many bytes of JSON.""",
    "databases": """CSV over HTTP until the upload is ready, CPU seconds of server, worker, children and
        database, beside parsing and a bare insert of five integers a row; bytes on disk beside that table;
        the wait of a reserve among 50 analysts beside a bare conditional UPDATE there.""",
    "adaptive": """CPU seconds of a release of 2,000 made-up people by how many are expected and by
        cells a side, beside a full quadtree of 256 cells with OpenDP's noise, made consistent by numpy.""",
}


def write(rows: Sequence[Row], folder: Path) -> Iterator[Path]:
    """A PNG a group in `folder`, its caption in the picture; the paths."""
    for group in dict.fromkeys(str(row["group"]) for row in rows):
        own = [row for row in rows if row["group"] == group]
        lines = all(RESOLUTION.fullmatch(str(row["name"])) for row in own)
        figure = Figure(figsize=(9, 4 if lines else 2 + 0.75 * len(own)), layout="constrained")
        axes = figure.subplots()
        (_lines if lines else _bars)(axes, own)
        axes.set_title(group.capitalize(), loc="left", fontweight="bold")
        caption = textwrap.fill(" ".join(CAPTIONS.get(group, "").split()), 110)
        figure.supxlabel(caption, fontsize=8, color="#55606e", x=0.02, ha="left")
        path = folder / f"{group.replace(' ', '-')}.png"
        figure.savefig(path, dpi=120, metadata={"Description": caption})
        yield path


def _bars(axes: Axes, rows: Sequence[Row]) -> None:
    """A bar a comparison; 1 is the alternative."""
    ratios = [float(str(row["ratio"])) for row in rows]
    labels = [textwrap.fill(f"{row['name']} / {row['alternative']}", 48) for row in rows]
    axes.barh(labels, ratios, color=COLOURS[0], height=0.5)
    axes.axvline(1, color="#1d2530", linewidth=1)
    for place, ratio in enumerate(ratios):
        axes.text(ratio, place, f" {ratio:.3g} ×", va="center", fontsize=9)
    axes.set_xlim(0, max(1.0, *ratios) * 1.2)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel("ours / alternative", fontsize=9)


def _lines(axes: Axes, rows: Sequence[Row]) -> None:
    """A line a mechanism over the cells a side."""
    series: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        found = RESOLUTION.fullmatch(str(row["name"]))
        assert found is not None
        series.setdefault(found["name"], []).append((int(found["resolution"]), float(str(row["ratio"]))))
    for (name, points), colour in zip(series.items(), COLOURS, strict=False):
        cells, ratios = zip(*sorted(points), strict=True)
        axes.loglog(cells, ratios, marker="o", color=colour, label=name, base=2)
    axes.set_xlabel("cells a side", fontsize=9)
    axes.set_ylabel("time / coarsest", fontsize=9)
    axes.legend(frameon=False)
    axes.grid(visible=True, alpha=0.3)
