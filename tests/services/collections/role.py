"""A role of a collection: a folder, an account and processes of its own."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.services.collections import accounts

PATIENCE_SECONDS = 120


@dataclass
class Role:
    """`account`: the user id of its processes; None: that of the tests."""

    name: str
    folder: Path
    variables: dict
    account: int | None = None
    process: subprocess.Popen | None = None
    pipes: list = field(default_factory=list)

    def __post_init__(self):
        self.folder.mkdir()
        self.folder.chmod(0o755)  # what keeps others out of its state is the product
        if self.account is not None:
            os.chown(self.folder, self.account, self.account)

    @property
    def state(self):
        return self.folder / "state"

    def started(self, *arguments, **options):
        """A process of this role."""
        program = sys.executable if self.account is None else accounts.interpreter()
        return subprocess.Popen(
            [program, *map(str, arguments)],
            env=accounts.environment() | self.variables,
            cwd=accounts.ROOT,
            **accounts.run_as(self.account),
            **options,
        )

    def serve(self, *arguments):
        """Start, or start again, what this role serves; its output goes to a file beside its folder."""
        with self.log.open("ab") as output:
            self.process = self.started(*arguments, stdout=output, stderr=subprocess.STDOUT)

    @property
    def log(self):
        return self.folder.with_name(f"{self.name}.log")

    def output(self):
        return self.log.read_text() if self.log.exists() else ""

    def talk(self, *arguments):
        """A process that answers each line of JSON with one."""
        made = Talk(self.started(*arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        self.pipes.append(made)
        return made

    def kill(self):
        """SIGKILL to what serves; what it started ends by itself."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE_SECONDS)

    def end(self):
        """All processes of this role, by their ids."""
        for talk in self.pipes:
            talk.end()
        if self.process is None:
            return
        children = self.processes()[1:]
        self.kill()
        for child in children:
            with suppress(psutil.Error):
                child.kill()

    def processes(self):
        """What serves, and what that started."""
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(self.process.pid)
            return [first, *first.children(recursive=True)]
        return []


@dataclass
class Talk:
    process: subprocess.Popen

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the other side stopped"
        return json.loads(answer)

    def end(self):
        self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
