"""Prints the manual's generated parts as JSON, by name: `python -m docs.manual.reference [shuffler]`.

They are made where the manual is built, so they never differ from the program. The shuffler's are made in a
process of their own: it has other settings, and the product knows nothing of it.
"""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import django
from django.core.management import BaseCommand, find_commands, load_command_class

ANALYSER, SHUFFLER = "heatmaps", "heatmaps.shuffler"
_METHODS: Final = ("get", "post", "put", "patch", "delete")


def parts(package: str) -> dict[str, str]:
    """Markdown by the name that a page asks for it by. Django is set up for `package`."""
    if package == SHUFFLER:
        settings = importlib.import_module("heatmaps.shuffler.settings")
        return {
            "shuffler settings": documented_table(settings.__doc__ or ""),
            "shuffler commands": commands(SHUFFLER, "manage.py shuffler"),
        }
    # Only now: the shuffler's process knows nothing of these, and models need Django's settings.
    catalogue = importlib.import_module("docs.manual.catalogue")
    measurements = importlib.import_module("docs.manual.measurements")
    growth = importlib.import_module("docs.manual.growth")
    environment = importlib.import_module("heatmaps.config.environment")
    return {
        "settings": documented_table(environment.__doc__ or ""),
        "commands": commands(ANALYSER, "manage.py"),
        "operations": operations(_schema()),
        **catalogue.parts(),
        **measurements.parts(),
        **growth.parts(),
    }


def documented_table(docstring: str) -> str:
    """The table that a module's docstring has."""
    return "\n".join(line for line in docstring.splitlines() if line.startswith("|"))


def commands(package: str, program: str) -> str:
    """A section for each command of `package`, with a row for each option."""
    folder = Path(importlib.import_module(f"{package}.management").__file__ or "").parent
    return "\n\n".join(_command(package, program, name) for name in sorted(find_commands(str(folder))))


def operations(schema: dict[str, Any]) -> str:
    """A table for each tag of an OpenAPI schema."""
    rows: dict[str, list[Sequence[str]]] = {}
    for address, methods in schema["paths"].items():
        for method in _METHODS:
            if told := methods.get(method):
                row = (f"`{method.upper()} {address}`", told["summary"])
                rows.setdefault(told["tags"][0], []).append(row)
    return "\n\n".join(
        f"### {tag.replace('-', ' ').capitalize()}\n\n{table(('address', 'what it does'), tagged)}"
        for tag, tagged in rows.items()
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; text of cells went through `plain`, or is code."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(text: str) -> str:
    """Text of the program as one line of Markdown that shows every character."""
    escaped = str.maketrans({"&": "&amp;", "<": "&lt;", "*": "&#42;", "|": "&#124;"})
    return " ".join(text.split()).translate(escaped)


def _command(package: str, program: str, name: str) -> str:
    parser = load_command_class(package, name).create_parser(program, name)
    usual = {action.dest for action in BaseCommand().create_parser("", "")._actions}
    rows = [
        (_names(action), plain(_help(parser, action)))
        for action in parser._actions
        if action.dest not in usual and action.help != argparse.SUPPRESS
    ]
    options = f"\n\n{table(('option', 'meaning'), rows)}" if rows else ""
    heading = f"{program} {name}".removeprefix("manage.py ")
    return f"### {heading}\n\n{plain(parser.description or '')}{options}"


def _names(action: argparse.Action) -> str:
    value = action.metavar or action.dest.upper()
    shown = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return f"`{shown}`"
    takes = "" if action.nargs == 0 else f" {shown}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    told = (action.help or "") % {**vars(action), "prog": parser.prog}
    usual = action.default
    if action.required and action.option_strings:
        return f"{told} (needed)"
    if usual in (None, "", False) or isinstance(usual, list) or action.nargs == 0 or "default" in told:
        return told
    return f"{told} (default: {usual})"


def _schema() -> dict[str, Any]:
    generators = importlib.import_module("drf_spectacular.generators")
    found: dict[str, Any] = generators.SchemaGenerator().get_schema(request=None, public=True)
    return found


def main() -> None:
    package = SHUFFLER if sys.argv[1:] == ["shuffler"] else ANALYSER
    settings = "heatmaps.shuffler.settings" if package == SHUFFLER else "heatmaps.config.settings"
    os.environ["DJANGO_SETTINGS_MODULE"] = settings
    django.setup()
    json.dump(parts(package), sys.stdout)


if __name__ == "__main__":
    main()
