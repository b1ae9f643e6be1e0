"""Steps of a round that its tests share."""

from datetime import timedelta

from heatmaps.collections import handover, round_keys, rounds
from heatmaps.models import Account
from heatmaps.releases import clock as release_clock
from heatmaps.releases import lifecycle
from tests.collections.devices import batch_of, bits_of, sealed

HOUR = timedelta(hours=1)


def again(found):
    return rounds.round_of(found.release.dataset, found.number)


def committed(dataset):
    return {str(row.kind): row.committed for row in Account.objects.filter(dataset=dataset)}


def hand_over(found, reports, ones=(3, 5)):
    messages = [
        message for _ in range(reports) for message in sealed(found.facts, bits_of(found.facts, ones))
    ]
    batch, digest = batch_of(messages)
    return handover.take(found.pk, sha256=digest, reports=reports, blocks=[batch])


def run_to_the_end(found, clock):
    release_clock.tick()
    lifecycle.run(found.pk)
    clock.pass_by(hours=1)
    release_clock.tick()
    return again(found)


def kept_files():
    return [*handover.batch_folder().iterdir(), *round_keys.rounds()]


def plan_later(steward, dataset, ask, found, **changes):
    """A round behind another one."""
    opens_at = found.release.visible_at + HOUR
    made = rounds.plan(steward, dataset, ask(**changes), opens_at=opens_at, closes_at=opens_at + HOUR)
    return rounds.round_of(dataset, made.number)
