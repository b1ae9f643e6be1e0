"""Modules joined into one classic script: it does what they do, and what is not known is refused."""

import re
import shutil
import subprocess

import pytest
from django.contrib.staticfiles import finders

from heatmaps.maps.script_bundle import BundleError, bundle
from heatmaps.maps.scripts import ENTRIES, script_of

# Four modules whose names meet: each has a `secret` of its own.
MODULES = {
    "entry.js": """import "./first.js";
import {
  total,
  Sign,
} from "./sums.js";
import { log } from "./log.js";

const secret = 4;
log(secret, total(1), new Sign().text);
""",
    "first.js": """import { log } from "./log.js";

const secret = 1;
log(secret);
""",
    "log.js": """// import of nothing
const secret = 0;
export const log = (...words) => console.log(...words, secret);
""",
    "sums.js": """import { log } from "./log.js";

const secret = 2;
log(secret);

/** @type {(start: number) => number} */
export function total(start) {
  return start + secret;
}

export class Sign {
  text = "§";
}
""",
}


def test_it_does_what_its_modules_do(tmp_path):
    """In a browser's order: what is imported first runs first, and each module once."""
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "script.cjs").write_text(bundle("entry.js", MODULES.__getitem__))
    of_modules, of_script = (
        subprocess.run([node, name], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for name in ("entry.js", "script.cjs")
    )
    assert of_script == of_modules == "1 0\n2 0\n4 3 § 0\n"


def test_the_same_modules_give_the_same_script():
    assert bundle("entry.js", MODULES.__getitem__) == bundle("entry.js", dict(MODULES).__getitem__)


def test_it_refuses_modules_that_import_each_other():
    modules = MODULES | {"log.js": 'import { total } from "./sums.js";\nexport const log = total;\n'}
    with pytest.raises(BundleError, match=r"log\.js → sums\.js → log\.js"):
        bundle("entry.js", modules.__getitem__)


def test_it_refuses_a_name_that_is_not_exported():
    modules = MODULES | {"log.js": "const log = 1;\n"}
    with pytest.raises(BundleError, match=r"first\.js: log\.js exports no log"):
        bundle("entry.js", modules.__getitem__)


@pytest.mark.parametrize(
    "line",
    [
        'import log from "./log.js";',
        'import * as log from "./log.js";',
        'import { log as write } from "./log.js";',
        'import { log } from "log";',
        'import { log } from "../log.js";',
        'import { log } from "./log.js"; log(1);',
        "export default 1;",
        "export { secret };",
        'export { log } from "./log.js";',
        'export * from "./log.js";',
        "export let secret = 1;",
        "export const { secret } = window;",
        'function later() {\n  return import("./log.js");\n}',
        "const here = import.meta.url;",
        'const answer = await fetch("/");',
    ],
)
def test_it_refuses_what_it_does_not_know(line):
    modules = {"entry.js": f"const first = 1;\n{line}\n", "log.js": MODULES["log.js"]}
    with pytest.raises(BundleError):
        bundle("entry.js", modules.__getitem__)


def test_comments_may_say_anything():
    text = """// import("./a.js") and
/*
export default: never
 */
/** @type {import("./b.js").C} */
const one = 1;
"""
    assert text.strip() in bundle("entry.js", {"entry.js": text}.__getitem__)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_script_of_a_page_needs_no_other_file(entry):
    script = script_of(entry)
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert len(re.findall(rf"^// --- {re.escape(entry)} ---$", script, re.MULTILINE)) == 1
    assert finders.find(f"hazemap/{entry}")


def test_the_scripts_have_what_they_draw_and_no_more():
    modules_of = {
        entry: re.findall(r"^// --- (\w+\.js) ---$", script_of(entry), re.MULTILINE) for entry in ENTRIES
    }
    assert all(len(names) == len(set(names)) for names in modules_of.values())
    assert {"heat.js", "marks.js"} <= set(modules_of["released_map.js"])
    assert not {"compare.js", "difference.js", "form_map.js"} & set(modules_of["released_map.js"])
    assert "heat.js" not in modules_of["compared_maps.js"]
    assert not {"heat.js", "sums.js", "gathered.js"} & set(modules_of["new_dataset.js"])
