"""Every single letter that an equation of a docstring has is in the notation of `mechanisms/README.md`."""

import ast
import re
from pathlib import Path

MECHANISMS = Path(__file__).parents[2] / "mechanisms"
LETTER = re.compile(r"(?<![\w'’])([A-Za-zΑ-Ωα-ωℓ])(?=[_₀₁₂′]|\b)(?!['’.-]\w)")
WORDS = {"a", "A", "I"}  # which are letters of equations, too


def letters(path):
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, documented)]
    return {letter for node in nodes for letter in LETTER.findall(ast.get_docstring(node) or "")}


def test_every_letter_is_explained():
    text = (MECHANISMS / "README.md").read_text()
    table = text.partition("| letter | meaning |")[2].partition("\n\n")[0]
    explained = {letter for row in table.splitlines()[2:] for letter in row.split("|")[1].split(", ")}
    explained = {letter.strip() for letter in explained}
    used = set.union(*(letters(path) for path in MECHANISMS.rglob("*.py"))) - WORDS
    assert len(used) > 50
    assert used <= explained, used - explained
    assert explained <= used | WORDS, explained - used
