import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import mechanisms
from mechanisms.evaluation.seeded import SeededSource

ROOT = Path(inspect.getfile(mechanisms)).parent


def test_the_same_seed_gives_the_same_words():
    one, other = SeededSource(7), SeededSource(7)
    assert np.array_equal(one.words(5), other.words(5))
    assert np.array_equal(one.words(3), other.words(3))
    assert not np.array_equal(SeededSource(8).words(5), SeededSource(7).words(5))


def test_words_are_fresh_and_uniform():
    source = SeededSource(7)
    words = np.concatenate([source.words(50_000), source.words(50_000)])
    assert words.dtype == np.uint64
    assert np.unique(words).size == 100_000
    ones = np.unpackbits(words.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 4.9 * 0.5 / np.sqrt(6_400_000)


@pytest.mark.parametrize("seed", [None, True, "1", 1.0])
def test_there_is_no_default_seed(seed):
    with pytest.raises(TypeError):
        SeededSource(seed)
    with pytest.raises(TypeError):
        SeededSource()


def test_it_is_no_default_of_any_function_and_no_module_of_the_product_imports_it():
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                defaults = [*node.args.defaults, *node.args.kw_defaults]
                sources = [ast.unparse(default) for default in defaults if default is not None]
                assert not any("Source" in source or "rng" in source for source in sources), path
            if isinstance(node, ast.ImportFrom) and "reproduction" not in path.parts:
                assert "reproduction" not in (node.module or ""), path
