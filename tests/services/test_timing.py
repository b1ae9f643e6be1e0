"""How long draws take is data: an analyst who times everything learns nothing about one person of many."""

from contextlib import ExitStack, contextmanager

import pytest

from tests.services import timing
from tests.services.installation import SERVE

PAIRS = 32  # of each installation: an area of .85 would be seen in 99 of 100
MOST = 0.55
SURE = 3.72  # 99.99 %: of six areas of .5, one is refuted in 11,000 runs; at 99 % one in 120
HIDDEN = ("seconds after the promised moment", "looks after it", "times late")
PLANTED = 10

pytestmark = pytest.mark.long


@contextmanager
def running(installation, redis=None):
    """The embedded server, or with Redis a deployment's web, worker and clock; its port."""
    celery = ("-m", "celery", "-A", "heatmaps.config")
    with ExitStack() as stack:
        program = ("-m", "tests.services.timing", "serve")
        if redis is not None:
            installation.broker_url, program = redis.url, SERVE
            workers = (*celery, "worker", "--concurrency", "2", "--loglevel", "WARNING")
            for service in (workers, ("manage.py", "clock")):
                stack.enter_context(installation.running(*service))
        yield stack.enter_context(installation.serving(program=program)).port


def areas(port, tokens, times):
    told = timing.attack(port, tokens, times)
    return {name: timing.auc(*of_worlds.values()) for name, of_worlds in told.items()}


@pytest.mark.parametrize("vendor", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_nothing_that_an_analyst_times_tells_of_400_000_checkins(installation, vendor, request):
    tokens = installation.script("timing", "make")
    redis = request.getfixturevalue("redis") if vendor == "postgresql" else None
    if redis is None:  # beside other tests a second is so short that a draw may still go on at its moment
        installation.others["HAZEMAP_SLOT_SECONDS"] = "2,2,2,2"
    with running(installation, redis) as port:
        timing.attack(port, tokens, 3)  # so that nothing is done for the first time
        found = areas(port, tokens, PAIRS)
    print(vendor, {name: round(area, 3) for name, area in found.items()})
    for name in HIDDEN:
        assert timing.lower_bound(found[name], PAIRS, z=SURE) <= MOST, (name, found)


@pytest.mark.parametrize("vendor", ["sqlite"])
def test_it_would_be_seen_where_draws_are_not_waited_for(installation):
    """Slots of no length: what the test above looks for is there to be found."""
    tokens = installation.script("timing", "make")
    installation.others["HAZEMAP_SLOT_SECONDS"] = "1e-9,1e-9,1e-9,1e-9"
    with running(installation) as port:
        found = areas(port, tokens, PLANTED)
    assert max(timing.lower_bound(found[name], PLANTED) for name in HIDDEN) > MOST, found
