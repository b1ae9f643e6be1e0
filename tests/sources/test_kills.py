"""SIGKILL to executors, the driver, the whole Spark, the worker and PostgreSQL at each step of a release.

After each kill at most one draw, one charge, the masses that an upload of the same rows gives, and an end;
`make bench SCALE=1` kills every part at every step.
"""

import pytest

from tests.services.programs import Postgres, Redis, found_or_skip
from tests.sources import killed
from tests.sources.spark import Spark

pytestmark = [pytest.mark.postgres, pytest.mark.redis, pytest.mark.long]


@pytest.mark.timeout(1500)
def test_nothing_is_drawn_or_charged_twice_when_a_part_is_killed(world):
    for service in (Spark, Redis, Postgres):
        found_or_skip(service)
    with killed.started(world.installation, datasets=len(killed.CHOSEN)) as lake:
        for number, (victim, step) in enumerate(killed.CHOSEN):
            lake.run(number, victim, step)
        outcomes = lake.outcomes()
    print(dict(outcomes))
    published = [what for what in outcomes if what.endswith("published")]
    # Whoever is elected and dies leaves no result; before and after it nothing is lost.
    assert outcomes["worker drawing: failed"] == 1
    assert len(published) >= len(killed.CHOSEN) - 3
