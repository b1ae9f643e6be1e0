"""Runs the demo's collection: a round of simulated people with the real client, shuffler and server.

All of it is on this machine, so that one operator runs both roles: what is promised is what every device does
by itself, and the release says so.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from heatmaps import datasets
from heatmaps.collections import collection as collections
from heatmaps.collections import rounds
from heatmaps.collections.collection import NewCollection
from heatmaps.collections.page import page_sha384
from heatmaps.collections.rounds import RoundState
from heatmaps.datasets import NewDataset
from heatmaps.demo.city import City, check_ins
from heatmaps.demo.places import REGION
from heatmaps.models import AccountKind, Dataset, Round
from heatmaps.releases import lifecycle
from heatmaps.releases.request import ReleaseRequest, RoundTerms
from mechanisms.guarantee import Relation
from mechanisms.results.point import Point

SLUG: Final = "demo-walks"
OPERATOR: Final = "Hazemap demo"
_CLIENT: Final = settings.BASE_DIR / "clients" / "device"
_CROWD: Final = settings.BASE_DIR / "heatmaps" / "demo" / "devices.py"
_PROCESSES: Final = 2  # of devices
_READY_SECONDS: Final = 60
_JOINING: Final = timedelta(seconds=20)  # between plan and opening: the shuffler takes part
_RESULT_SECONDS: Final = 600

Say = Callable[[str], object]


class CannotRun(Exception):  # noqa: N818 - reads as what it says
    """Gives a readable reason in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRound:
    """States how many devices there are, where the two roles listen, and how long the round is open."""

    devices: int = 2_000
    port: int = 8000
    shuffler_port: int = 8100
    seconds: int = 400

    @property
    def analyser_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def shuffler_url(self) -> str:
        return f"http://127.0.0.1:{self.shuffler_port}"


def run(steward: User, options: DemoRound, say: Say) -> None:
    """Runs one round from plan to result; does nothing where the demo has one. Errors: CannotRun."""
    dataset = Dataset.objects.filter(slug=SLUG).first() or _created(steward, options, say)
    if dataset.releases.filter(state="published").exists():
        say(f"the collection {SLUG} has a result already")
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hazemap-demo-")))
        say("starting the server and the shuffler")
        stack.enter_context(_serving(["serve", "--port", str(options.port)], options.analyser_url))
        _join(dataset, options, folder)
        shuffler = ["shuffler", "serve", "--port", str(options.shuffler_port)]
        stack.enter_context(_serving(shuffler, options.shuffler_url))
        demo_round = _plan_round(steward, dataset, options)
        _wait_for(demo_round, {RoundState.READY}, _JOINING.seconds)
        links = _links(demo_round, folder)
        _wait_for(demo_round, {RoundState.OPEN}, _JOINING.seconds + 5)
        _send_all(links, folder, say)
        say(f"the round closes at {demo_round.closes_at:%H:%M:%S} UTC; waiting for its result")
        ended = _wait_for(demo_round, {RoundState.PUBLISHED, RoundState.NO_RESULT}, _RESULT_SECONDS)
        _tell(ended, say)


def _created(steward: User, options: DemoRound, say: Say) -> Dataset:
    say(f"creating the collection {SLUG}")
    new = NewDataset(
        slug=SLUG,
        title="Demo city: where people are, from their devices",
        region=REGION,
        relation=Relation.REPLACE,
        limits={AccountKind.RECORD: None, AccountKind.RADIUS: "40", AccountKind.DELTA: "0.01"},
        persons=options.devices,
        radius_m=500,
        collection=NewCollection(
            question="Where are you now?",
            analyser_operator=OPERATOR,
            shuffler_operator=OPERATOR,
            analyser_url=options.analyser_url,
            shuffler_url=options.shuffler_url,
        ),
    )
    return datasets.create(steward, new, is_demo=True)


@contextmanager
def _serving(arguments: list[str], url: str) -> Iterator[None]:
    """Runs a process of this program until the block ends. Errors: CannotRun with what it said last."""
    environment = os.environ | {"HAZEMAP_SHUFFLER_STATE": str(_shuffler_state())}
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603 - our own
        try:
            _wait_until_healthy(process, url)
            yield
        except CannotRun as refusal:
            log.seek(0)
            raise CannotRun(f"{refusal}: {(log.read().splitlines() or ['it said nothing'])[-1]}") from None
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


def _shuffler_state() -> Path:
    return Path(os.environ.get("HAZEMAP_SHUFFLER_STATE", settings.STATE_DIR / "shuffler"))


def _wait_until_healthy(process: "subprocess.Popen[bytes]", url: str) -> None:
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise CannotRun(f"what should serve at {url} stopped")
        with suppress(OSError), urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:  # noqa: S310
            if answer.status == 200:  # a server of somebody else may be there
                return
        time.sleep(0.2)
    raise CannotRun(f"nothing answers at {url}")


def _join(dataset: Dataset, options: DemoRound, folder: Path) -> None:
    token, names = folder / "token", folder / "names"
    token.write_text(collections.new_token(dataset.collection))
    names.write_text("".join(f"walker-{number:04d}\n" for number in range(options.devices)))
    arguments = ["--token-file", str(token), "--operator", OPERATOR, "--url", options.shuffler_url]
    _shuffler("join", options.analyser_url, SLUG, *arguments)
    token.unlink()
    _shuffler("enrol", SLUG, str(names))


def _shuffler(*arguments: str) -> None:
    environment = os.environ | {"HAZEMAP_SHUFFLER_STATE": str(_shuffler_state())}
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "shuffler", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise CannotRun((done.stderr.strip().splitlines() or ["the shuffler's command failed"])[-1])


def _plan_round(steward: User, dataset: Dataset, options: DemoRound) -> Round:
    request = ReleaseRequest(
        mechanism="geo-shuffle",
        epsilon="1",
        delta="0.000001",
        parameters={"cell_m": "400"},
        round=RoundTerms(least_honest=max(2, options.devices * 7 // 10), dishonest_share="0.05"),
    )
    opens_at = timezone.now() + _JOINING
    new_round = rounds.plan(
        steward,
        dataset,
        request,
        opens_at=opens_at,
        closes_at=opens_at + timedelta(seconds=options.seconds),
        page_sha384=page_sha384(),
    )
    return rounds.round_of(dataset, new_round.number)


def _wait_for(demo_round: Round, states: set[RoundState], seconds: float) -> Round:
    """Waits until the round has one of the states. Errors: CannotRun."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        latest = rounds.round_of(demo_round.release.dataset, demo_round.number)
        state = rounds.state_of(latest)
        if state in states:
            return latest
        if state is RoundState.CANCELLED:
            raise CannotRun("the round was cancelled: its shuffler did not take part in time")
        connection.close()  # SQLite would keep what others write from us
        time.sleep(0.2)
    raise CannotRun(f"the round was not {' or '.join(sorted(states))} in time")


def _links(demo_round: Round, folder: Path) -> list[str]:
    path = folder / "links.csv"
    _shuffler("invitations", SLUG, str(demo_round.number), "--output", str(path))
    with path.open(newline="") as file:
        return [row["link"] for row in csv.DictReader(file)]


def _send_all(links: list[str], folder: Path, say: Say) -> None:
    """Sends a report by each link. Errors: CannotRun where a process of devices stopped."""
    city = check_ins(City(persons=len(links), checkins=len(links), seed=3))
    lines = [
        f"{link}\t{lat:.6f},{lon:.6f}\n"
        for link, lat, lon in zip(links, city.lat.tolist(), city.lon.tolist(), strict=True)
    ]
    outcomes: Queue[str] = Queue()
    shares = [lines[part::_PROCESSES] for part in range(_PROCESSES)]
    threads = [
        Thread(target=_crowd, args=(share, folder / f"devices-{part}", outcomes), daemon=True)
        for part, share in enumerate(shares)
    ]
    for thread in threads:
        thread.start()
    successes = failed = 0
    step = max(1, len(lines) // 20)
    while successes + failed < len(lines):
        word = outcomes.get()
        if word == "stopped":
            raise CannotRun("a process of devices stopped")
        successes, failed = successes + (word == "sent"), failed + (word != "sent")
        if (successes + failed) % step == 0:
            say(f"{successes} of {len(lines)} devices have sent their reports")
    if failed:
        say(f"{failed} devices could not send theirs")


def _crowd(lines: list[str], folder: Path, outcomes: "Queue[str]") -> None:
    """Runs a process of devices, one after the other; each line that it writes is a report."""
    command = [sys.executable, str(_CROWD), str(folder)]
    environment = {"PYTHONPATH": str(_CLIENT), "PATH": os.environ.get("PATH", "")}
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None  # noqa: S101 - as it was made
    assert process.stdout is not None  # noqa: S101 - as it was made
    Thread(target=_feed, args=(process.stdin, lines), daemon=True).start()
    for line in process.stdout:
        outcomes.put(line.strip())
    if process.wait():
        outcomes.put("stopped")


def _feed(stream: object, lines: list[str]) -> None:
    with suppress(BrokenPipeError):
        stream.writelines(lines)  # type: ignore[attr-defined]  # a pipe for text
        stream.close()  # type: ignore[attr-defined]  # as above


def _tell(ended: Round, say: Say) -> None:
    if rounds.state_of(ended) is RoundState.NO_RESULT:
        raise CannotRun("the round has no result: fewer reports came in than it needs")
    point = lifecycle.result_of(ended.release)
    where = ""
    if isinstance(point, Point):
        where = f": {point.lat:.4f}, {point.lon:.4f}, off by about {point.expected_m:.0f} m"
    say(f"{ended.reports} reports made a central point{where}")
