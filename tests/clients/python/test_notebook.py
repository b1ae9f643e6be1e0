"""The tour runs from its first cell to its last in a kernel of its own, on a server of its own."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.clients.python.conftest import CLIENT

NOTEBOOK = CLIENT / "notebook.ipynb"


def test_the_notebook_is_handed_on_without_results():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 10
    assert [cell["outputs"] for cell in code if cell["outputs"] or cell["execution_count"]] == []


@pytest.mark.long
def test_the_notebook_runs_and_shows_quote_map_and_budget(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HAZEMAP_TOKEN", server.token)
    monkeypatch.setenv("PYTHONPATH", str(CLIENT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    text = NOTEBOOK.read_text().replace("http://127.0.0.1:8000", server.url)
    notebook = nbformat.reads(text, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()

    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output for output in outputs if output["output_type"] == "error"] == []
    shown = "\n".join(text for output in outputs for text in texts_of(output))
    assert server.token not in shown
    assert re.search(r"Sent 0\.\d of 0\.\d MB", shown)
    assert shown.count('<img alt="Vienna in March') == 1
    assert "<caption>ε = 1, δ = 0</caption>" in shown
    assert '<th scope="row">presence</th><td>1</td><td>2</td><td>3</td>' in shown
    assert "Inner town" in shown
    assert "ε that would fit: 2" in shown
    assert {"vienna.png", "vienna.geojson"} <= {path.name for path in Path(tmp_path).iterdir()}


def texts_of(output):
    """What people would see of an output."""
    return [output["text"]] if "text" in output else list(map(str, output.get("data", {}).values()))
