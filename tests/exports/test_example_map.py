"""The example of the blur: of made-up people, from public facts alone, for those who may ask."""

import io
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

from heatmaps.exports import example_map
from heatmaps.exports.example_map import MECHANISMS, Example
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_it_is_a_small_picture_of_a_draw(mechanism):
    asked = Example(
        mechanism=mechanism, relation=Relation.ADD_REMOVE, epsilon=Fraction(1), resolution=64, people=500
    )
    one, same, other = (example_map.draw_example(asked, SeededSource(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.values, same.values)
    assert one.values.shape != other.values.shape or not np.array_equal(one.values, other.values)
    stream = io.BytesIO()
    example_map.write(one, stream, look="dark")
    assert max(Image.open(stream).size) <= 480
    assert len(stream.getvalue()) < 60_000
