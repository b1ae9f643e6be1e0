"""A shuffler of its own for tests: state folder, commands, and `serve` as a process."""

import contextlib
import csv
import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.shuffler.analyser_peer import TOKEN

ROOT = Path(__file__).resolve().parents[2]
OPERATOR = "The trees' friends"
PATIENCE_SECONDS = 30


@dataclass
class Answer:
    status: int
    headers: dict
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
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

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
        """Nothing of the analyser is in it."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("HAZEMAP_", "DJANGO_"))
        }
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        own = {
            "HAZEMAP_SHUFFLER_STATE": str(self.state),
            "HAZEMAP_SHUFFLER_POLL_SECONDS": "0.05",
            "PYTHONUNBUFFERED": "1",
        }
        return kept | own | self.others

    def manage(self, *arguments, check=True):
        """Run a command to its end."""
        result = subprocess.run(
            [sys.executable, ROOT / "manage.py", "shuffler", *map(str, arguments)],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert not check or result.returncode == 0, result.stderr[-3000:]
        return result

    def join(self, analyser_url, slug="trees", token=TOKEN):
        token_file = self.folder / "token"
        token_file.write_text(token + "\n")
        about = ("--operator", OPERATOR, "--url", self.url)
        return self.manage("join", analyser_url, slug, "--token-file", token_file, *about)

    def start(self, patience=PATIENCE_SECONDS):
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, ROOT / "manage.py", "shuffler", "serve", "--port", str(self.port)],
                env=self.environment,
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        wait_until(self.is_up, "the server", patience)

    def is_up(self):
        assert self.process.poll() is None, self.output()
        with contextlib.suppress(OSError):
            return self.get("/healthz").status == 200
        return False

    def stop(self, number=signal.SIGTERM):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(PATIENCE_SECONDS)

    def kill(self):
        self.stop(signal.SIGKILL)

    def output(self):
        return (self.folder / "output").read_text()

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body=body, headers=names)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def report(self, made, secret, packet):
        headers = {"Content-Type": "application/octet-stream", "Hazemap-Invitation": secret}
        return self.ask("POST", f"/rounds/{made.id}/reports/", packet, **headers)

    def facts(self, made):
        """The facts' bytes, once they are fixed."""
        wait_until(lambda: self.get(f"/rounds/{made.id}/facts.json").status == 200, "facts")
        return self.get(f"/rounds/{made.id}/facts.json").body

    def secrets(self, made):
        """What the links of a round hold, as its operator gets them."""
        listed = csv.DictReader(io.StringIO(self.manage("invitations", "trees", made.number).stdout))
        return [(row["name"], row["link"].partition("#")[2].partition(".")[2]) for row in listed]

    def stored_secrets(self, made):
        """The same without the command, which takes half a second, and without handing them out."""
        return json.loads((self.state / "rounds" / str(made.id) / "secrets").read_bytes())


def wait_until(is_so, what, seconds=PATIENCE_SECONDS):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.02)
