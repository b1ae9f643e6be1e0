"""The package stands alone: `httpx` and the standard library, and in its wheel what is needed to use it."""

import ast
import re
import subprocess
import sys
import tokenize
import tomllib
from zipfile import ZipFile

from tests.clients.python.conftest import CLIENT

LOADED = """
import sys
before = set(sys.modules)
import hazemap_client, httpx, importlib, pkgutil
httpx_alone = {name.partition(".")[0] for name in sys.modules}
for found in pkgutil.iter_modules(hazemap_client.__path__, "hazemap_client."):
    importlib.import_module(found.name)
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))
"""
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def test_it_imports_httpx_and_what_that_needs_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={"PYTHONPATH": str(CLIENT)}, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    needed = {"anyio", "certifi", "h11", "httpcore", "httpx", "idna", "sniffio", "typing_extensions"}
    optional = {"brotli", "click", "h2", "pygments", "rich", "socksio", "zstandard", "_brotli", "brotlicffi"}
    assert set(done.stdout.split()) - needed - optional == {"hazemap_client"}


def test_its_wheel_has_the_code_its_types_and_every_extra(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=CLIENT, capture_output=True, check=True)
    with ZipFile(next(tmp_path.glob("hazemap_client-*.whl"))) as wheel:
        names = set(wheel.namelist())
        facts = wheel.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    code = {f"hazemap_client/{path.name}" for path in (CLIENT / "hazemap_client").iterdir() if path.is_file()}
    assert {name for name in names if ".dist-info/" not in name} == code
    assert "hazemap_client/py.typed" in code
    used = set(re.findall(r'extra="(\w+)"', "".join(map(_text, (CLIENT / "hazemap_client").glob("*.py")))))
    extras = tomllib.loads(_text(CLIENT / "pyproject.toml"))["project"]["optional-dependencies"]
    assert used == set(extras) == set(re.findall(r"Provides-Extra: (\w+)", facts))


def test_its_code_has_at_most_900_lines():
    """Without docstrings, comments and empty lines."""
    assert sum(map(_lines_of_code, (CLIENT / "hazemap_client").glob("*.py"))) <= 900


def _lines_of_code(path):
    with path.open("rb") as file:
        tokens = [one for one in tokenize.tokenize(file.readline) if one.type not in _NO_CODE]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [one for one in ast.walk(ast.parse(_text(path))) if isinstance(one, documented)]
    docstrings = [node.body[0] for node in nodes if ast.get_docstring(node) is not None]
    lines = {line for one in tokens for line in range(one.start[0], one.end[0] + 1)}
    return len(lines - {line for one in docstrings for line in range(one.lineno, one.end_lineno + 1)})


def _text(path):
    return path.read_text()
