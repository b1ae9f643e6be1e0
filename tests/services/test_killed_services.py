"""SIGKILL to web, worker, scheduler, Redis and PostgreSQL while analysts ask and a steward uploads.

After each kill what was killed is started again, and everything asked for ends; then everything that is
stored is compared with what may be. A failure names its run; KILLS_OF_A_KIND sets how many of a kind.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import psycopg
import pytest
from django.db import connection
from django.db.models import Sum

from heatmaps.ledger.verification import verify
from heatmaps.models import CheckIn, Dataset, Release, RequestKey, Result, Upload
from heatmaps.releases import lifecycle
from tests.ingest.conftest import _default_database
from tests.services.deployment import HOW, Deployment
from tests.services.programs import wait_until
from tests.services.traffic import ANALYSTS, ASKED, FILLED, ROWS, Traffic

pytestmark = [pytest.mark.postgres, pytest.mark.redis, pytest.mark.long]

KILLS = {"web": 2, "worker": 2, "redis": 2, "postgres": 2, "scheduler": 1}
ASKED_EACH_RUN = 3 * ANALYSTS
LONGEST_MOMENT = 1.2  # seconds after the first request; all draws of a run take that long
BOUND_SECONDS = 180  # until everything has ended: a lease, a sweep, a start, on a machine that is busy
# Events and draws that a release of each final state has.
LIVES = {
    "published": (["reserve", "spend", "publish"], {1}),
    "failed": (["reserve", "spend", "fail"], {0, 1}),
    "cancelled": (["reserve", "cancel"], {0}),
}


@dataclass(slots=True)
class Campaign:
    """One deployment that all kinds of kills meet, one after the other, and what was asked of it so far."""

    stack: Deployment
    tokens: list
    asked: dict = field(default_factory=dict)  # key -> id of the release
    done: Counter = field(default_factory=Counter)  # what was killed, in words
    numbers: Iterator = field(default_factory=count)  # of the runs


@pytest.fixture(scope="module")
def campaign(world, tmp_path_factory, django_db_blocker):
    folder = tmp_path_factory.mktemp("killed")
    with (
        world.deployment(folder, settings="tests.services.hurried") as stack,
        django_db_blocker.unblock(),
        _default_database(stack.installation.database_url),
    ):
        yield Campaign(stack, stack.installation.script("traffic"))


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("kind", KILLS)
def test_nothing_is_lost_or_done_twice_when_processes_are_killed(campaign, kind):
    stack, done, runs = campaign.stack, campaign.done, int(os.environ.get("KILLS_OF_A_KIND", KILLS[kind]))
    wait_until(lambda: stack.web.process.poll() or stack.answers(), seconds=60, what="the first answer")
    for run in range(runs):
        chance = random.Random(f"{kind} {run}")
        moment = chance.uniform(0, LONGEST_MOMENT)
        traffic = Traffic(stack.port, campaign.tokens, next(campaign.numbers))
        try:
            done[killed(stack, traffic, kind, chance, moment)] += 1
            campaign.asked |= traffic.answered
            check(stack, campaign.asked, traffic.cancelled)
        except AssertionError as error:
            output = stack.installation.output()[-3000:]
            raise AssertionError(f"run {run} of {kind}, {moment:.3f} s: {error}\n{output}") from error
    print(dict(done), states())
    check_uploads(stack)
    assert not [how for how in HOW[kind] if runs > 20 and not done[f"{how} of {kind}"]]
    assert states()["published"] > sum(done.values())


def killed(stack, traffic, kind, chance, moment):
    """One run: what was killed, once everybody was answered and every release has ended."""
    work = traffic.start()
    time.sleep(moment)
    what = stack.kill_and_restart(kind, chance)
    for thread in work:
        thread.join()
    assert not traffic.problems, traffic.problems
    wait_until(lambda: not waiting(stack), seconds=BOUND_SECONDS, what="the end of every release")
    return what


def waiting(stack, question="SELECT count(*) FROM heatmaps_release WHERE state IN ('reserved', 'spent')"):
    stack.start_what_ended()
    with psycopg.connect(stack.installation.database_url) as database:
        return database.execute(question).fetchone()[0]


def check(stack, asked, cancelled):
    connection.close()
    dataset = Dataset.objects.get(slug=ASKED)
    verified = verify(dataset)
    assert verified.ok, verified.problem
    check_keys(asked)
    check_lives(stack, dataset)
    for pk in cancelled:
        assert Release.objects.get(pk=pk).state == "cancelled"
    account = dataset.accounts.get(kind="presence")
    kept = Release.objects.filter(dataset=dataset).exclude(state="cancelled")
    charged = kept.filter(charges__account=account).aggregate(sum=Sum("charges__amount"))["sum"]
    assert (account.committed, account.limit) == (charged, 1000 * 10**12)
    assert visible_uploads_are_whole()


def check_keys(asked):
    """One release for every key that was sent, however often; none without a key."""
    stored = {row.key: str(row.release_id) for row in RequestKey.objects.all()}
    assert stored == asked
    assert len(set(stored.values())) == len(stored) == Release.objects.count()


def check_lives(stack, dataset):
    drawn = Counter((stack.installation.folder / "draws").read_text().split())
    moves = {}
    for release, kind in (
        dataset.events.exclude(release=None)
        .exclude(kind__in=["late", "postpone"])  # other moments for the same moves
        .order_by("sequence")
        .values_list("release", "kind")
    ):
        moves.setdefault(release, []).append(kind)
    maps = dict(Result.objects.values_list("pk", "sha256"))
    for release in Release.objects.all():
        expected, draws = LIVES[release.state]
        assert moves[release.pk] == expected, release.pk
        assert drawn[str(release.pk)] in draws, release.pk
        assert (release.pk in maps) == (release.state == "published")
        if release.state == "published":
            assert lifecycle.heatmap_of(release).sha256 == maps[release.pk]


def visible_uploads_are_whole():
    """Of our files, a ready one has all its rows, whatever happens to the others meanwhile."""
    ready = Upload.objects.filter(dataset__slug=FILLED, state="ready").exclude(file_name="checkins.csv")
    return all(
        (upload.rows_accepted, CheckIn.objects.filter(extent__upload=upload).count()) == (ROWS, ROWS)
        and upload.version is not None
        for upload in ready
    )


def check_uploads(stack):
    """In the end every file is ready, and no row is there twice or without a ready upload."""
    under_way = "SELECT count(*) FROM heatmaps_upload WHERE state IN ('received', 'staged')"
    try:
        wait_until(lambda: not waiting(stack, under_way), seconds=300, what="the end of every upload")
    except AssertionError as error:
        rows = list(Upload.objects.exclude(state="ready").values("state", "lease_until", "rows_accepted"))
        raise AssertionError(f"{error}: {rows}\n{stack.installation.output()[-4000:]}") from None
    connection.close()
    dataset = Dataset.objects.get(slug=FILLED)
    found = Counter(dataset.uploads.values_list("state", flat=True))
    assert set(found) == {"ready"}
    assert visible_uploads_are_whole()
    assert verify(dataset).ok
    sweeps_files(stack.installation.folder / "uploads")


def sweeps_files(folder):
    """What a request left that was killed before its upload was stored goes once it is old."""
    for path in folder.iterdir():
        os.utime(path, times=(0, 0))
    wait_until(lambda: not files(folder), seconds=60, what="the sweep of forgotten files")


def files(folder):
    return [path for path in folder.iterdir() if path.is_file()]


def states():
    return Counter(Release.objects.values_list("state", flat=True))
