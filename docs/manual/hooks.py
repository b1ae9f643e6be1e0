"""Fits the repository's pages into the manual while mkdocs builds it, and its pages into our policy."""

import hashlib
import json
import os
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT: Final = Path(__file__).resolve().parents[2]
MANUAL: Final = Path(__file__).parent
_GENERATED: Final = re.compile(r"^<!-- generated: ([\w ]+) -->$", re.MULTILINE)
_FENCE: Final = re.compile(r"^( *```\w+) .*$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]+)\]\((\.\./[^)#\s]+)(?:#[\w-]+)?\)")
_PICTURE: Final = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*'
    r'<img src="([^"]+)" alt="([^"]*)">\s*</picture>'
)
# The theme writes both in this one spelling; data blocks have attributes and are no scripts.
_SEARCH: Final = '<div class="md-search" data-md-component="search" role="dialog"'
_SCRIPT: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# Searching finds what to do before why it is done so.
_BOOSTS: Final = {"how-to": 3.0, "tutorials": 2.0, "decisions": 0.2}
# What nobody asks for: other languages' stemmers, maps for debuggers, lists for search engines.
_NEEDLESS: Final = (
    "assets/javascripts/lunr",
    "assets/javascripts/*.map",
    "assets/javascripts/workers/*.map",
    "assets/stylesheets/*.map",
    "sitemap.xml*",
    "404.html",
)


def on_config(config: MkDocsConfig) -> None:  # noqa: ARG001 - mkdocs names them
    """Begins with no scripts of an earlier build."""
    _scripts.clear()


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Puts generated parts in, shows links to the source as names of files, and tells search what it is."""
    page.meta.setdefault("search", {})["boost"] = _BOOSTS.get(page.file.src_uri.partition("/")[0], 1.0)
    folder = Path(config.docs_dir) / Path(page.file.src_uri).parent
    filled = _GENERATED.sub(lambda mark: _part(mark[1], page), markdown)
    shown = _FENCE.sub(r"\1", filled)
    return _PICTURE.sub(_two_pictures, _LINK.sub(lambda link: _inside(link, folder, config), shown))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Moves the theme's inline scripts into files: our policy allows none in a page."""
    named = output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"', 1)
    return _SCRIPT.sub(lambda script: _moved(script[1], page), named)


def on_post_build(config: MkDocsConfig) -> None:
    site = Path(config.site_dir)
    for name, text in _scripts.items():
        (site / name).write_text(text)
    for file in (MANUAL / "manual.css", MANUAL / "manual.js", ROOT / "static/hazemap/favicon.svg"):
        (site / "assets" / file.name).write_bytes(file.read_bytes())
    licence = distribution("mkdocs-material").read_text("licenses/LICENSE")
    (site / "assets" / "licence.txt").write_text(licence or "")
    for pattern in _NEEDLESS:
        for path in site.glob(pattern):
            _remove(path)


_scripts: dict[str, str] = {}


def _part(name: str, page: Page) -> str:
    found = {**_generated(), **_generated("shuffler")}
    if name not in found:
        raise PluginError(f"{page.file.src_uri}: nothing generates {name!r}; there are {sorted(found)}")
    return found[name]


@cache
def _generated(*role: str) -> dict[str, str]:
    """What the program says of itself, from a process of its own for each role."""
    state = Path(os.environ.get("HAZEMAP_STATE", ROOT / ".local"))
    told = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "docs.manual.reference", *role],
        cwd=ROOT,
        env=os.environ | {"HAZEMAP_SHUFFLER_STATE": str(state.absolute() / "shuffler")},
        stdout=subprocess.PIPE,
        check=True,
    )
    parts: dict[str, str] = json.loads(told.stdout)
    return parts


def _inside(link: re.Match[str], folder: Path, config: MkDocsConfig) -> str:
    """The same link where it stays in the manual; else the name of the file, which it does not have."""
    target = Path(os.path.normpath(folder / link[2]))
    if target.is_relative_to(config.docs_dir):
        return link[0]
    name = f"`{target.relative_to(ROOT)}`"
    return name if "`" in link[1] else f"{link[1]} ({name})"


def _two_pictures(picture: re.Match[str]) -> str:
    """Both looks, of which the style of the page shows one: readers choose it apart from their system."""
    return f"![{picture[3]}]({picture[2]}#only-light) ![{picture[3]}]({picture[1]}#only-dark)"


def _moved(script: str, page: Page) -> str:
    name = f"assets/javascripts/{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"
    _scripts[name] = script
    return f'<script src="{get_relative_url(name, page.url)}"></script>'


def _remove(path: Path) -> None:
    for child in path.iterdir() if path.is_dir() else ():
        _remove(child)
    path.rmdir() if path.is_dir() else path.unlink()
