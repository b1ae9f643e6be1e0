"""Runs modules of the pages in node, which needs no page for what only computes."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

STATIC = Path(__file__).resolve().parents[2] / "static" / "hazemap"


def evaluated(modules, expression, given):
    """The JSON of an expression of JavaScript in which `given` is what is given here.

    Each module stands in it under the name of its file: `surface.smooth` of "surface.js".
    """
    node = shutil.which("node")
    if node is None:
        if os.environ.get("REQUIRE_SERVICES"):
            pytest.fail("node is not installed")
        pytest.skip("node is not installed")
    program = "\n".join(
        [
            *(f'import * as {Path(module).stem} from "./{module}";' for module in modules),
            'import { readFileSync } from "node:fs";',
            'const given = JSON.parse(readFileSync(0, "utf-8"));',
            f"process.stdout.write(JSON.stringify({expression}));",
        ]
    )
    with TemporaryDirectory() as folder:
        for path in STATIC.glob("*.js"):
            shutil.copy(path, folder)
        Path(folder, "package.json").write_text('{"type": "module"}')
        Path(folder, "program.mjs").write_text(program)
        ran = subprocess.run(
            [node, "program.mjs"],
            input=json.dumps(given),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
