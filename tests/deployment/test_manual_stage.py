"""The image's manual is built from the folders that its stage copies, and they are enough."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.services.installation import ROOT


def copied():
    """What the Dockerfile's stage `manual` copies from the checkout."""
    text = (ROOT / ".docker/Dockerfile").read_text()
    stage = text.split("FROM packages AS manual\n")[1].split("\nFROM ")[0]
    return re.findall(r"^COPY (\S+) \S+$", stage, re.MULTILINE)


@pytest.mark.long
def test_the_generated_parts_need_no_folder_that_the_stage_lacks(tmp_path):
    for name in copied():
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    command = [sys.executable, "-m", "docs.manual.reference"]
    environment = os.environ | {"HAZEMAP_STATE": str(tmp_path / "state")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "measurements" in json.loads(done.stdout)
