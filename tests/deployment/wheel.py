"""Builds the wheel, and finds the Pythons that it is installed for."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.services.installation import ROOT


def built(folder, checkout=ROOT):
    """The wheel of a checkout, made into a folder without a network."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=checkout,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def another_checkout(folder):
    """What a wheel is made of, copied: elsewhere, at another time, for its owner alone."""
    parts = ["pyproject.toml", "README.md", "LICENSE", "NOTICE", ".gitignore", "manage.py"]
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    folder.mkdir()
    for part in parts:
        copied(ROOT / part, folder / part)
    for part in config["only-include"]:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, copy_function=copied)
    return folder


def copied(source, target):
    shutil.copyfile(source, target)
    Path(target).chmod(Path(source).stat().st_mode & 0o700)


def python_or_skip(minor):
    """A Python 3.`minor` of this machine; nothing is downloaded. Skips by name where there is none."""
    if sys.version_info[:2] == (3, minor):
        return Path(sys.executable).resolve()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [*pyenv.glob(f"versions/3.{minor}.*/bin/python3.{minor}"), shutil.which(f"python3.{minor}")]
    for python in filter(None, found):
        if subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0:
            return Path(python)
    pytest.skip(f"Python 3.{minor} is not installed")


def environment(folder, python, wheel):
    """An empty environment with the wheel and what the lock says, as a folder of programs."""
    uv = [sys.executable, "-m", "uv", "--quiet"]
    install = [*uv, "pip", "install", "--python", str(folder / "bin" / "python")]
    subprocess.run([*uv, "venv", "--no-python-downloads", "--python", str(python), str(folder)], check=True)
    subprocess.run(
        [*install, "--require-hashes", "--requirement", str(ROOT / "requirements.lock")], check=True
    )
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True)
    return folder / "bin"
