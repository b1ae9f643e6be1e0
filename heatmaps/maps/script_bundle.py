"""Joins ES modules into one classic script, which needs no other request and runs from a file, too.

A browser loads no module from a file's address. Here each module becomes a function that returns its exports,
in the order in which a browser would run them: no module sees a name of another unless it imports it. Nothing
is read but `import` and `export` at the beginning of a line, in the forms that `static/hazemap` has; every
other form is refused.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_IMPORT: Final = re.compile(
    r'^import (?:\{(?P<names>[\w\s,]+)\} from )?"\./(?P<module>[a-z][a-z_]*\.js)";\n', re.MULTILINE
)
_EXPORT: Final = re.compile(
    r"^export (?P<declaration>(?:(?:async )?function|class|const) (?P<name>\w+)\b)", re.MULTILINE
)
_COMMENT: Final = re.compile(r"^\s*//[^\n]*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)
# A list of exports, a default, an import of another place or at run time, an `await` outside of any function.
_UNKNOWN: Final = re.compile(r"^(?:import|export)\b.*|\bimport\s*[(.].*|^[^\s].*\bawait\b.*", re.MULTILINE)


class BundleError(ValueError):
    """Refuses modules that cannot be joined; it names the module and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class _Module:
    name: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]  # module and the names taken from it, in their order
    exports: tuple[str, ...]
    body: str  # without `import` and `export`

    @property
    def scope(self) -> str:
        """Returns the name of its exports in the joined script; no module has a name with `$`."""
        return f"${self.name.removesuffix('.js')}"


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Returns one classic script that does what the entry module does.

    `read` returns a module's text by its file name. The same texts give the same script.
    Errors: BundleError for a cycle, an import of what is not exported, and syntax that is not known here.
    """
    modules: dict[str, _Module] = {}
    _add(entry, read, modules, ())
    scopes = "".join(_scope(module) for module in modules.values())
    return f'(() => {{\n"use strict";\n{scopes}}})();\n'


def _add(name: str, read: Callable[[str], str], modules: dict[str, _Module], path: tuple[str, ...]) -> None:
    """Adds a module behind all that it imports. path: the modules that lead to it, from the entry on."""
    if name in path:
        raise BundleError(f"modules import each other: {' → '.join([*path, name])}")
    if name in modules:
        return
    module = _module(name, read(name))
    for source, names in module.imports:
        _add(source, read, modules, (*path, name))
        if missing := [each for each in names if each not in modules[source].exports]:
            raise BundleError(f"{name}: {source} exports no {', '.join(missing)}")
    modules[name] = module


def _module(name: str, text: str) -> _Module:
    """Takes a module's text apart. Errors: BundleError."""
    imports = tuple((match["module"], _names(match["names"] or "")) for match in _IMPORT.finditer(text))
    exports = tuple(match["name"] for match in _EXPORT.finditer(text))
    body = _EXPORT.sub(r"\g<declaration>", _IMPORT.sub("", text))
    if unknown := _UNKNOWN.search(_COMMENT.sub("", body)):
        raise BundleError(f"{name}: not known here: {unknown[0]}")
    return _Module(name, imports, exports, body)


def _names(text: str) -> tuple[str, ...]:
    """Returns the names between the braces of an import. Errors: BundleError for one that is renamed."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if renamed := [name for name in names if not name.isidentifier()]:
        raise BundleError(f"imported under another name: {', '.join(renamed)}")
    return names


def _scope(module: _Module) -> str:
    """Returns a module as a function of its own that returns its exports."""
    imports = "".join(
        f"const {{ {', '.join(names)} }} = ${source.removesuffix('.js')};\n"
        for source, names in module.imports
        if names
    )
    exports = f"return {{ {', '.join(module.exports)} }};\n" if module.exports else ""
    body = module.body.removesuffix("\n")
    return f"// --- {module.name} ---\nconst {module.scope} = (() => {{\n{imports}{body}\n{exports}}})();\n"
