"""Runs the modules of the contributors' page in node, in a folder as the shuffler serves it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTE = ROOT / "static" / "contribute"
SEALING = ROOT / "build" / "front" / "hpke"

# What tests hand over as {"hex": …} and {"integer": …}, and what comes back of it.
_PREAMBLE = """
import { readFileSync } from "node:fs";
const revive = (name, value) => value?.hex !== undefined ? Uint8Array.from(Buffer.from(value.hex, "hex"))
  : value?.integer !== undefined ? BigInt(value.integer) : value;
const replace = (name, value) => value instanceof Uint8Array ? Buffer.from(value).toString("hex")
  : typeof value === "bigint" ? String(value) : value;
const given = JSON.parse(readFileSync(0, "utf-8"), revive);
const fixedWords = (list) => {
  let next = 0;
  return {
    word() { if (next === list.length) throw new Error("no word is left"); return list[next++]; },
    get left() { return list.length - next; },
  };
};
const seededWords = (seed) => {  // splitmix64: for statistics that fail the same way each time
  let state = BigInt(seed);
  return { word() {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  } };
};
const answer = (value) => process.stdout.write(JSON.stringify(value, replace));
"""


def missing():
    """Why nothing can be run here, if so."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (SEALING / "core" / "mod.js").is_file():
        return "npm packages are not installed: `make setup` does it"
    return ""


def require():
    if why := missing():
        if os.environ.get("REQUIRE_SERVICES"):
            pytest.fail(why)
        pytest.skip(why)


def laid_out(folder):
    """The page's modules and those of the packages, as the shuffler serves them."""
    require()
    shutil.copytree(CONTRIBUTE, folder, dirs_exist_ok=True)
    shutil.copytree(SEALING, folder / "hpke")
    return folder


def run(folder, program, given=None, *, seconds=120):
    """The JSON that a program answers, which imports from "./" and finds what is `given` under that name."""
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", _PREAMBLE + program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=folder,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
