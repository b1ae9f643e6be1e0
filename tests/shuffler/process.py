"""A shuffler of its own for tests: state folder, commands, and `serve` as a process."""

import contextlib
import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.services.programs import free_port
from tests.shuffler.analyser_peer import TOKEN

ROOT = Path(__file__).resolve().parents[2]
OPERATOR = "The trees' friends"
PATIENCE_SECONDS = 90  # on a machine that does much else


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        return json.loads(self.body)


@dataclass
class Shuffler:
    folder: Path
    port: int = 0
    others: dict = field(default_factory=dict)  # more variables of the environment
    process: subprocess.Popen | None = None

    def __post_init__(self):
        self.port = free_port()

    @property
    def state(self):
        return self.folder / "state"

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def about(self):
        """What its analysers were told of it."""
        return {"operator": OPERATOR, "url": self.url}

    @property
    def environment(self):
        foreign = ("HAZEMAP_", "DJANGO_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        own = {
            "HAZEMAP_SHUFFLER_STATE": str(self.state),
            "HAZEMAP_SHUFFLER_POLL_SECONDS": "0.2",
            "PYTHONUNBUFFERED": "1",
        }
        return kept | own | self.others

    def manage(self, *arguments):
        """A command that is run to its end."""
        return subprocess.run(
            [sys.executable, ROOT / "manage.py", "shuffler", *map(str, arguments)],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def commands(self, *several):
        """What several commands print, and how they refuse, in one process: starting takes longest."""
        result = subprocess.run(
            [sys.executable, "-m", "tests.shuffler.commands"],
            input=json.dumps([[str(word) for word in one] for one in several]),
            env=self.environment | {"PYTHONPATH": str(ROOT)},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert result.returncode == 0, result.stderr[-3000:]
        return [tuple(one) for one in json.loads(result.stdout)]

    def joining(self, analyser_url, slug="trees", token=TOKEN):
        """The words of `join`."""
        token_file = self.folder / f"file of {token}"
        token_file.write_text(token + "\n")
        about = ("--operator", OPERATOR, "--url", self.url)
        return ("join", analyser_url, slug, "--token-file", token_file, *about)

    def start(self, *options):
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, ROOT / "manage.py", "shuffler", "serve", "--port", str(self.port), *options],
                env=self.environment,
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def is_up(self):
        assert self.process.poll() is None, self.output()
        with contextlib.suppress(OSError):
            return self.get("/healthz").status == 200
        return False

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(PATIENCE_SECONDS)

    def output(self):
        return (self.folder / "output").read_text()

    def ask(self, method, path, body=None, *, source="127.0.0.1", **headers):
        """`source`: which of this machine's addresses asks."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=PATIENCE_SECONDS, source_address=(source, 0)
        )
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def report(self, made, secret, packet, **others):
        headers = {"Content-Type": "application/octet-stream", "Hazemap-Invitation": secret}
        return self.ask("POST", f"/rounds/{made.id}/reports/", packet, **headers, **others)

    def facts(self, made):
        """The facts' bytes, once they are fixed."""
        wait_until(lambda: self.get(f"/rounds/{made.id}/facts.json").status == 200, "facts")
        return self.get(f"/rounds/{made.id}/facts.json").body

    def files_of(self, made):
        return self.state / "rounds" / str(made.id)

    def secrets(self, made):
        """Names and secrets of a round, before they are handed out."""
        return json.loads((self.files_of(made) / "secrets").read_bytes())

    def rows(self):
        """All rows of all tables but Django's own."""
        with contextlib.closing(sqlite3.connect(self.state / "shuffler.sqlite3")) as database:
            tables = [
                name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            own = sorted(name for name in tables if name.startswith("shuffler_"))
            return {name: database.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in own}

    def let_close(self, made):
        """The closing moment of a round is now: a test waits for no clock, however busy the machine is."""
        with contextlib.closing(sqlite3.connect(self.state / "shuffler.sqlite3", timeout=30)) as database:
            now = int(time.time())
            database.execute("UPDATE shuffler_round SET closes_at = ? WHERE id = ?", (now, made.id.hex))
            database.commit()

    def state_of(self, made):
        for row in self.rows()["shuffler_round"]:
            if made.id.hex in row:
                return row[2]
        return None

    def memory(self):
        """What the process has in memory, but for what is mapped from files."""
        found = bytearray()
        maps = Path(f"/proc/{self.process.pid}/maps").read_text().splitlines()
        with Path(f"/proc/{self.process.pid}/mem").open("rb", buffering=0) as memory:
            for line in maps:
                span, rights, _, _, inode, *_ = line.split()
                if rights.startswith("rw") and inode == "0":
                    first, last = (int(end, 16) for end in span.split("-"))
                    with contextlib.suppress(OSError):  # given back meanwhile
                        memory.seek(first)
                        while first < last and (part := memory.read(last - first)):
                            found += part
                            first += len(part)
        return bytes(found)


def wait_until(is_so, what, seconds=PATIENCE_SECONDS):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.02)
