"""What several reports cost together: the same numbers in both clients."""

import json
from pathlib import Path

import pytest
from hazemap_device.wording import together

CASES = json.loads((Path(__file__).parent / "together.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_costs_of_several_reports_are_those_of_the_vectors(case):
    found = together(case["reports"])
    assert [float(value) for value in found] == pytest.approx([case["epsilon"], case["delta"]], rel=1e-9)
    assert found[1] >= case["delta"] * (1 - 1e-15)
