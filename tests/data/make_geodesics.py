"""Writes geodesics.json: geodesics on WGS84 by Karney's own library.

pip install geographiclib==2.1; python tests/data/make_geodesics.py

Pairs on one parallel (where the flat projection of a region errs most), of any two places, and nearly
antipodal ones.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

from geographiclib.geodesic import Geodesic

PARALLELS = (0.0, 1.0, 30.0, 45.448, 50.0, 72.0, 80.0, 83.1, 88.945)
TURNS = (0.01, 0.3, 4.0, 70.0, 88.4, 160.4, 175.0)  # degrees of longitude
FAR = [(-30.0, 0.0, 29.9, 179.8), (0.5, 0.0, -0.5, 179.7)]


def pairs():
    draw = random.Random(5).uniform
    yield from ((lat, 10.0, lat, 10.0 + turn) for lat in PARALLELS for turn in TURNS)
    yield from ((draw(-89, 89), 0.0, draw(-89, 89), draw(0.1, 170)) for _ in range(40))
    yield from FAR


def main():
    found = [[*pair, Geodesic.WGS84.Inverse(*pair)["s12"]] for pair in pairs()]
    content = {"geographiclib": version("geographiclib"), "lat_lon_lat_lon_metres": found}
    Path(__file__).with_name("geodesics.json").write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
