"""Runs the pages' scripts in node, which needs no page for what only computes."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

STATIC = Path(__file__).resolve().parents[2] / "static" / "hazemap"


def evaluated(scripts, expression, given):
    """The JSON of an expression of JavaScript in which `given` is what is given here."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("REQUIRE_SERVICES"):
            pytest.fail("node is not installed")
        pytest.skip("node is not installed")
    program = "\n".join(
        [
            *((STATIC / script).read_text() for script in scripts),
            "const given = JSON.parse(require('fs').readFileSync(0, 'utf-8'));",
            f"process.stdout.write(JSON.stringify({expression}));",
        ]
    )
    text = json.dumps(given)
    ran = subprocess.run(
        [node, "-e", program], input=text, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
