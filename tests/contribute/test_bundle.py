"""The list of the page's files, and what is taken of the packages that seal."""

import base64
import hashlib
import json
import re

import pytest

from heatmaps.management.commands.ground import take_sealing
from heatmaps.page_bundle import PAGE, bundle, canonical
from tests.contribute.node import CONTRIBUTE, ROOT, SEALING, missing


@pytest.fixture
def folders(tmp_path):
    page, contribute, hpke = tmp_path / "page.html", tmp_path / "contribute", tmp_path / "hpke"
    for file in (page, contribute / "page.js", contribute / "a" / "é.js", hpke / "core" / "mod.js"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(file.name)
    return contribute, hpke, page


def test_it_lists_every_file_with_its_hash(folders):
    manifest, digest = bundle(*folders)
    assert [path for path, _ in manifest] == ["", "a/é.js", "hpke/core/mod.js", "page.js"]
    assert base64.b64decode(dict(manifest)["page.js"]) == hashlib.sha384(b"page.js").digest()
    assert base64.b64decode(digest) == hashlib.sha384(canonical(manifest)).digest()
    assert json.loads(canonical(manifest)) == manifest


def test_its_hash_depends_on_every_byte_and_name(folders):
    contribute, hpke, page = folders
    hashes = {bundle(*folders)[1]}
    page.write_text("another page")
    hashes.add(bundle(*folders)[1])
    (hpke / "core" / "mod.js").write_text("other")
    hashes.add(bundle(*folders)[1])
    (contribute / "page.js").rename(contribute / "pages.js")
    hashes.add(bundle(*folders)[1])
    assert len(hashes) == 4


def test_what_an_installation_adds_is_no_part_of_it(folders):
    before = bundle(*folders)
    (folders[0] / "places.json").write_text("[]")
    (folders[0] / ".hidden").write_text("")
    assert bundle(*folders) == before


def test_a_folder_without_files_is_no_bundle(folders, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError):
        bundle(folders[0], tmp_path / "empty", folders[2])


def test_the_page_is_served_as_it_stands():
    """Its hash is that of the file: nothing is filled in, and no script or style stands in it."""
    text = PAGE.read_text(encoding="utf-8")
    assert not re.search(r"\{[{%#]", text)
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|https?:", text) == []


def test_every_file_that_the_page_names_is_there():
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r'(?:src|href)="([^"#]+)"', text))
    imported = re.compile(r'(?:from|import\(new URL\()\s*"(\.[^"]+)"')
    for module in CONTRIBUTE.rglob("*.js"):
        for address in imported.findall(module.read_text(encoding="utf-8")):
            found = (module.parent / address).resolve()
            if "hpke" not in found.parts:
                named.add(found.relative_to(CONTRIBUTE).as_posix())
    assert {name for name in named if not (CONTRIBUTE / name).is_file()} == set()
    for icon in json.loads((CONTRIBUTE / "manifest.webmanifest").read_text())["icons"]:
        assert (CONTRIBUTE / icon["src"]).is_file()


@pytest.mark.skipif(bool(missing()), reason=missing() or "nothing")
def test_modules_of_packages_import_each_other_by_address(tmp_path):
    take_sealing(ROOT / "node_modules" / "@hpke", tmp_path / "hpke")
    modules = list((tmp_path / "hpke").rglob("*.js"))
    imports = re.compile(r'^(?:import|export)\b[^;"]*\bfrom\s*"([^"]+)"', re.MULTILINE)
    for module in modules:
        for address in imports.findall(module.read_text(encoding="utf-8")):
            assert (module.parent / address).resolve() in modules, (module, address)
    assert {path.name for path in (tmp_path / "hpke").glob("*/LICENSE.txt")} == {"LICENSE.txt"}
    assert sorted(path.relative_to(tmp_path / "hpke") for path in modules) == sorted(
        path.relative_to(SEALING) for path in SEALING.rglob("*.js")
    )
