"""What a child answers that a file took over is refused like that file."""

import os

import pytest

from heatmaps.districts import children
from mechanisms.space.grid import Region

CITY = Region(2.0, 41.0, 2.1, 41.1)
LIES = [
    b"",
    b"[" * 100_000,
    b"[]",
    b"7",
    b"{}",
    b'{"refused": 1}',
    b'{"refused": ["a"]}',
    b'{"areas": 1e999, "corners": 1, "rows": [["a", {}]], "is_bound": 1}',
    b'{"areas": [], "corners": 1, "rows": [[]], "is_bound": 1}',
    b'{"areas": "x", "corners": 1, "rows": [["a", 1]], "is_bound": 1}',
]


@pytest.mark.parametrize("answer", LIES)
def test_what_no_child_of_ours_answers_refuses_the_file(monkeypatch, answer):
    def taken_over(_module, _sent, _limits, *, files, **_options):
        os.write(files[0], answer + b"\n")
        return 0

    monkeypatch.setattr(children.process, "finished", taken_over)
    with pytest.raises(children.TooCostly):
        children.read(b"{}", name_property="name")
    with pytest.raises(children.TooCostly):
        children.add_up(b"{}", packed=False, result=b"", region=CITY)
