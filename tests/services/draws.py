"""A release from its reservation to its outcome, in the test's own process: slots of tests have no length."""

import hashlib
import time

from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.models import Drawing, Release
from heatmaps.releases import clock, lifecycle

CONTENT = b"a map"
LONGEST_WAIT_SECONDS = 30


def carry_out(*release_ids):
    """Spend them, one of a dataset, draw them, and tell what came of them.

    The clock moves every dataset: what it begins and nobody draws before it ticks again is put off, for as
    long as it has waited. That is waited for here, whichever call began it.
    """
    clock.tick()
    for release_id in release_ids:
        lifecycle.run(release_id)
    clock.tick()
    ends = time.monotonic() + LONGEST_WAIT_SECONDS
    while _put_off(release_ids) and time.monotonic() < ends:
        time.sleep(0.01)
        clock.tick()
    clock.tick()  # the moment may have come between the last tick and the look


def _put_off(release_ids):
    """Whether one of them has its outcome, and its moment is still to come."""
    spent = Release.objects.filter(pk__in=release_ids, state="spent", visible_at__gt=timezone.now())
    return spent.filter(drawing__state__in=["drawn", "failed", "refused"]).exists()


def publish(release_id, content=CONTENT):
    """Tell that something was drawn, of a release that is spent."""
    told = {"state": "drawn", "content": content, "sha256": hashlib.sha256(content).hexdigest()}
    Drawing.objects.update_or_create(pk=release_id, defaults=told)
    transitions.publish(release_id)


def fail(release_id):
    """Tell that nothing was drawn, of a release that is spent."""
    Drawing.objects.update_or_create(pk=release_id, defaults={"state": "failed"})
    transitions.fail(release_id)
