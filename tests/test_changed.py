"""The command that runs changed tests many times names those whose source differs."""

import pytest

from tests import changed

MODULE = '''"""A module."""

import pytest


@pytest.mark.parametrize("number", {numbers})
def test_of_numbers(number):
    assert number


def helper():
    pass
'''


def test_a_test_differs_by_its_decorators_and_never_by_its_layout():
    module = MODULE.format(numbers="[1, 2]")
    assert list(changed.sources_by_name(module)) == ["test_of_numbers"]
    assert changed.sources_by_name(module) == changed.sources_by_name(module.replace("[1, 2]", "[1,2]"))
    assert changed.sources_by_name(module) != changed.sources_by_name(MODULE.format(numbers="[1, 3]"))


@pytest.mark.long
def test_failures_are_counted_by_test(tmp_path):
    passing, failing = tmp_path / "test_passing.py", tmp_path / "test_failing.py"
    passing.write_text("def test_passing():\n    pass\n")
    failing.write_text("def test_failing():\n    raise ValueError\n")
    (name, count), *others = changed.run([str(passing), str(failing)], 1).items()
    assert (name.endswith("test_failing.py::test_failing"), count, others) == (True, 1, [])
