"""Reads the code blocks of documents, and runs those of one as a reader would: in one shell, in order."""

import contextlib
import io
import os
import re
import subprocess
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from tests.services.compose import replaced
from tests.services.installation import ROOT

FENCE = re.compile(r"^( *)```(\w+)( elsewhere)?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
RUN = ("sh", "python")
SHOWN = ("text", "yaml", "toml", "js")  # what a command answers, and what is put into files and pages
ADDRESS = "http://127.0.0.1:8000"
README = Path("../README.md")
# What the next block of a shell finds again.
KEEP = "\n{ export -p; declare -f; } > .shell"


@dataclass(frozen=True, kw_only=True)
class Block:
    language: str
    elsewhere: bool  # it cannot run in a test; `test_tutorials.ELSEWHERE` says why
    text: str
    line: int  # of its document

    @property
    def name(self):
        """Its first line, as far as it tells it from others."""
        return self.text.splitlines()[0].split("  ")[0][:48].strip()


def documents():
    """Tutorials, how-to guides and the README, by their names from docs."""
    docs = ROOT / "docs"
    guides = (path for kind in ("tutorials", "how-to") for path in (docs / kind).glob("*.md"))
    return sorted([README, *(path.relative_to(docs) for path in guides)])


def text_of(document):
    return (ROOT / "docs" / document).read_text()


def blocks(document):
    text = text_of(document)
    return [
        Block(
            language=found[2],
            elsewhere=bool(found[3]),
            text=textwrap.dedent(found[4]),
            line=text.count("\n", 0, found.start()) + 1,
        )
        for found in FENCE.finditer(text)
    ]


@dataclass(kw_only=True)
class Reader:
    """Somebody in a folder that looks like a checkout, with one shell and one Python session."""

    folder: Path
    address: str
    others: dict = field(default_factory=dict)  # more words that are others here, such as a port
    names: dict = field(default_factory=dict)

    def follow(self, document):
        answer = ""
        for block in blocks(document):
            where = f"docs/{document}, line {block.line}"
            if block.language == "text":
                missing = [line for line in block.text.splitlines() if not says(answer, line)]
                assert missing == [], f"{where}: the answer was {answer!r}"
            elif block.language in RUN and not block.elsewhere:
                text = replaced(block.text, {ADDRESS: self.address} | self.others)
                answer = self._shell(text, where) if block.language == "sh" else self._python(text, where)

    def _shell(self, text, where):
        """What it answers. What it exports and the functions that it defines are kept for the next block."""
        before = ". ./.shell\n" if (self.folder / ".shell").exists() else ""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", before + text + KEEP],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{where}: {done.stdout[-3000:]}"
        return done.stdout

    def _python(self, text, where):
        """What it prints, in one session, as in a notebook, with what the shell exported."""
        before = ". ./.shell\n" if (self.folder / ".shell").exists() else ""
        told = subprocess.run(
            ["bash", "-c", f"{before}env -0"], cwd=self.folder, capture_output=True, text=True, check=True
        ).stdout
        exported = dict(line.split("=", 1) for line in told.split("\0") if "=" in line)
        printed = io.StringIO()
        with (
            patch.dict(os.environ, exported),
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
        ):
            exec(compile(text, where, "exec"), self.names)
        return printed.getvalue()

    def _environment(self):
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("HAZEMAP_", "DJANGO_"))
        }
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        return kept


def says(answer, line):
    """Whether an answer has a line; `…` stands for anything."""
    pattern = ".*".join(map(re.escape, line.split("…")))
    return re.search(f"^{pattern}$", answer, re.MULTILINE) is not None
