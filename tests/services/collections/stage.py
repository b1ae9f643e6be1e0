"""An analyser, a shuffler and devices as processes, and a round from plan to end."""

import csv
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from threading import Thread
from uuid import UUID

from tests.services.collections.role import Role
from tests.services.http import get
from tests.services.programs import free_port, roomy_memory, wait_until

OPERATOR = "University"  # as `seed.make_collection` has it
WALK = "tests.services.collections"
OVER = {"published", "no_result", "cancelled"}
QUIET_SECONDS = 5.0  # to start all of it on two quiet cores
QUICK = {  # little to seal: 24 devices take a second
    "mechanism": "geo-shuffle",
    "epsilon": "4",
    "delta": "0.000001",
    "least_honest": 12,
    "parameters": {"cell_m": "2000"},
}


@dataclass
class Crowd:
    """A process of devices, and what it said so far."""

    role: Role
    folder: Path
    lines: list
    told: dict = field(default_factory=dict)  # receipt or code, by device
    process: subprocess.Popen | None = None
    thread: Thread | None = None

    def start(self):
        left = [line for number, line in enumerate(self.lines) if number not in self.told]
        program = ("-m", f"{WALK}.crowd", self.folder, self.folder / "record")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = self.role.started(*program, **pipes)
        self.thread = Thread(target=self._listen, args=(self.process, left), daemon=True)
        self.thread.start()

    def _listen(self, process, left):
        feeder = Thread(target=feed, args=(process.stdin, left), daemon=True)
        feeder.start()
        for line in process.stdout:
            if line.endswith("\n"):
                told = json.loads(line)
                self.told[told["number"]] = told.get("receipt") or told["code"]

    def kill(self):
        self.process.kill()
        self.process.wait(60)
        self.thread.join(60)

    def finish(self):
        self.thread.join(600)
        assert self.process.wait(60) == 0

    @property
    def receipts(self):
        return {number: told for number, told in self.told.items() if len(told) == 64}

    @property
    def record(self):
        """What each packet holds; of a device whose packet was lost before it was kept, there are several."""
        path = self.folder / "record"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def feed(stream, lines):
    try:
        stream.writelines(lines)
        stream.close()
    except BrokenPipeError:
        pass  # it was killed


@dataclass
class Round:
    """A round that was planned, its invitations and its devices."""

    slug: str
    plan: dict
    names: list
    links: list = field(default_factory=list)
    crowds: list = field(default_factory=list)

    @property
    def id(self):
        return self.plan["id"]

    @property
    def secrets(self):
        return [link.rsplit(".", 1)[1] for link in self.links]

    @property
    def record(self):
        return [line for crowd in self.crowds for line in crowd.record]

    @property
    def receipts(self):
        return [receipt for crowd in self.crowds for receipt in crowd.receipts.values()]


@dataclass
class Stage:
    folder: Path
    analyser: Role
    shuffler: Role
    devices: Role
    port: int
    shuffler_port: int
    steward: object = None
    operator: object = None
    pace: float = 1.0  # how much slower than a quiet machine this one is

    @property
    def analyser_url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def shuffler_url(self):
        return f"http://127.0.0.1:{self.shuffler_port}"

    def serve_analyser(self):
        self.analyser.serve("manage.py", "serve", "--port", self.port)

    def serve_shuffler(self):
        self.shuffler.serve("manage.py", "shuffler", "serve", "--port", self.shuffler_port)

    def wait_until_up(self):
        for role, port in ((self.analyser, self.port), (self.shuffler, self.shuffler_port)):
            self.wait(lambda role=role, port=port: is_up(role, port), role.name, seconds=120)

    def create(self, slug, persons, **facts):
        """A collection whose shuffler has joined, with these people."""
        urls = {"analyser_url": self.analyser_url, "shuffler_url": self.shuffler_url}
        told = self.steward.ask(act="create", slug=slug, persons=len(persons), **(urls | facts))
        return told["token"]

    def joining(self, role, slug, token, persons=None, *, analyser_url=""):
        """Words of commands that a shuffler joins a collection by."""
        token_file, names = (role.folder / f"{what}-{slug}" for what in ("token", "names"))
        own_file(role, token_file, token)
        about = ("--operator", OPERATOR, "--url", self.shuffler_url)
        words = [["join", analyser_url or self.analyser_url, slug, "--token-file", str(token_file), *about]]
        if persons is not None:
            own_file(role, names, "\n".join(persons))
            words.append(["enrol", slug, str(names)])
        return words

    def join(self, slug, token, persons=None, **others):
        self.command(*self.joining(self.shuffler, slug, token, persons, **others))

    def command(self, *several):
        """What commands of the shuffler print."""
        told = self.operator.ask(commands=several)
        assert [refusal for _, refusal in told if refusal] == []
        return [printed for printed, _ in told]

    def plan(self, slug, names, *, seconds=2, opens_in=5, request=QUICK):
        """A busy machine gets more time."""
        asked = {"opens_in": opens_in * self.pace, "seconds": round(seconds * self.pace), "request": request}
        return Round(slug, self.steward.ask(act="plan", slug=slug, **asked), names)

    def state(self, made):
        return self.steward.ask(act="state", slug=made.slug, number=made.plan["number"])["state"]

    def tell(self, made):
        return self.steward.ask(act="tell", slug=made.slug, number=made.plan["number"])

    def hand_out(self, *several):
        """Take the links of rounds from the shuffler, which keeps them no longer."""
        for made in several:
            path = f"/rounds/{made.id}/facts.json"
            self.wait(lambda path=path: get(self.shuffler_port, path)[0] == 200, "facts")
        words = [["invitations", made.slug, str(made.plan["number"])] for made in several]
        for made, printed in zip(several, self.command(*words), strict=True):
            rows = list(csv.DictReader(io.StringIO(printed)))
            assert [row["name"] for row in rows] == made.names
            made.links = [row["link"] for row in rows]

    def crowd(self, made, lines):
        """A process of devices; `lines` of link and place."""
        folder = self.devices.folder / f"{made.slug}-{len(made.crowds)}"
        folder.mkdir()
        if self.devices.account is not None:
            os.chown(folder, self.devices.account, self.devices.account)
        numbered = [f"{number}\t{link}\t{place}\n" for number, (link, place) in enumerate(lines)]
        made.crowds.append(Crowd(self.devices, folder, numbered))
        return made.crowds[-1]

    def wait_for_end(self, *several, seconds=120):
        for made in several:
            self.wait(lambda made=made: self.state(made) in OVER, "the round's end", seconds)
        self.wait(lambda: self.left(*several) == [], "forgetting")

    def wait(self, is_so, what, seconds=60):
        wait_until(lambda: is_so() or time.sleep(0.1), seconds=seconds, what=what)

    def left(self, *several):
        """What is still there of rounds: files of keys, secrets, tables and batches, and rows."""
        with closing(
            sqlite3.connect(f"file:{self.shuffler.state}/shuffler.sqlite3?mode=ro", uri=True)
        ) as database:
            rows = database.execute("SELECT round_id FROM shuffler_invitation").fetchall()
        kept = [path for role in (self.shuffler, self.analyser) for path in role.state.rglob("*")]
        ids = {made.id for made in several}
        found = [path for path in kept if any(one in path.name for one in ids)]
        return found + [row for (row,) in rows if str(UUID(row)) in ids]


@contextmanager
def staged(world, *, account=(None, None, None)):
    """Roles in folders of their own, the analyser on an installation of `world`."""
    place = Path(tempfile.mkdtemp(prefix="hazemap-roles-", dir=roomy_memory()))
    place.chmod(0o755)
    port, shuffler_port = free_port(), free_port()
    made = Stage(
        folder=place,
        analyser=Role(
            "analyser",
            place / "analyser",
            {
                "HAZEMAP_STATE": str(place / "analyser" / "state"),
                "HAZEMAP_RECORD_DIR": str(place / "analyser" / "record"),
                "HAZEMAP_SLOT_SECONDS": "1,1,1,1",
                "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings",
            },
            account[0],
        ),
        shuffler=Role(
            "shuffler",
            place / "shuffler",
            {
                "HAZEMAP_SHUFFLER_STATE": str(place / "shuffler" / "state"),
                "HAZEMAP_SHUFFLER_POLL_SECONDS": "0.2",
            },
            account[1],
        ),
        devices=Role("devices", place / "devices", {}, account[2]),
        port=port,
        shuffler_port=shuffler_port,
    )
    world.installation(made.analyser.folder)
    if account[0] is not None:
        for path in [made.analyser.state, *made.analyser.state.rglob("*")]:
            os.chown(path, account[0], account[0])
    try:
        began = time.monotonic()
        made.serve_analyser()
        made.serve_shuffler()
        made.steward = made.analyser.talk("-m", f"{WALK}.steward")
        made.operator = made.shuffler.talk("-m", f"{WALK}.operator")
        made.command()
        made.wait_until_up()
        made.pace = max(1.0, (time.monotonic() - began) / QUIET_SECONDS)
        yield made
    finally:
        for role in (made.analyser, made.shuffler):
            role.end()
        shutil.rmtree(place)


def own_file(role, path, text):
    path.write_text(text)
    path.chmod(0o600)
    if role.account is not None:
        os.chown(path, role.account, role.account)


def is_up(role, port):
    assert role.process.poll() is None, role.output()[-3000:]
    return get(port, "/healthz")[0] == 200


def counted(made, told):
    """The packets that the analyser's batch is of: all with a receipt, and some whose answer was lost.

    Their messages, ascending, have the SHA-256 that the analyser stored; so they are these and no others.
    """
    packets = {hashlib.sha256(bytes.fromhex(line["packet"])).hexdigest(): line for line in made.record}
    receipts = set(made.receipts)
    assert len(receipts) == len(made.receipts)
    unsure = sorted(set(packets) - receipts)
    more = told["reports"] - len(receipts)
    assert more >= 0, "a report was lost after its receipt"
    for lost in combinations(unsure, more):
        sealed = sorted(bytes.fromhex(text) for one in (*receipts, *lost) for text in packets[one]["sealed"])
        if hashlib.sha256(b"".join(sealed)).hexdigest() == told["batch_sha256"]:
            return {*receipts, *lost}
    raise AssertionError("the batch holds other messages than those of its reports, or some twice")


def charged(*several):
    """What rounds of a collection cost together, by account; without a bound it is told, not charged."""
    kinds = several[0].plan["charges"]
    return {kind: sum(made.plan["charges"][kind] or 0 for made in several) for kind in kinds}


def place_text(lat, lon):
    return f"{lat:.6f},{lon:.6f}"
