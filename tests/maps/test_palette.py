import numpy as np
import pytest
from branca.colormap import LinearColormap

from heatmaps.maps import palette


@pytest.mark.parametrize("colours", [palette._LIGHT, palette._DARK, *palette.RAMPS.values()])
def test_colours_between_are_those_of_branca(colours):
    mixer = LinearColormap(colours)
    for count in range(1, 40):
        at = np.linspace(1.0, 0.0, count).tolist()
        assert palette._evenly(colours, count) == [mixer.rgb_hex_str(place) for place in at][::-1]
