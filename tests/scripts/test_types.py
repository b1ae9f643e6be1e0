"""What `make lint` checks of the pages' scripts: all of them, strictly, and none is excused."""

import json

from tests.scripts.node import STATIC

ROOT = STATIC.parents[1]


def test_every_script_has_its_types_checked_strictly():
    settings = json.loads((ROOT / "tsconfig.json").read_text())
    assert settings["include"] == ["static/hazemap", "static/contribute"]
    assert "exclude" not in settings
    assert settings["compilerOptions"] | {"strict": True, "checkJs": True} == settings["compilerOptions"]
    scripts = [*STATIC.glob("*.js")]
    assert scripts
    assert [path.name for path in scripts if "@ts-" in path.read_text(encoding="utf-8")] == []


def test_lint_checks_them_and_says_where_it_cannot():
    recipe = (ROOT / "Makefile").read_text().split("\nlint:")[1].split("\n\n")[0]
    assert "node_modules/.bin/tsc" in recipe
    assert "are not checked: npm is not installed" in recipe
