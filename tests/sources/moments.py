"""Lengths of time in tests of readings, a release that reads a lake, and what became of it."""

from datetime import timedelta

from django.db.models import Sum

from heatmaps.models import Account, Drawing
from heatmaps.releases import clock as moments
from heatmaps.releases.lifecycle import ReleaseRequest

SLOT = timedelta(seconds=900)
LEASE = timedelta(seconds=60)
INSTANT = timedelta(microseconds=1)
REQUEST = ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)


def state_of(release):
    release.refresh_from_db()
    return release.state


def public_state(release, clock):
    """Returns the state of a release at its public moment."""
    release.refresh_from_db()
    clock(release.visible_at)
    moments.tick()
    return state_of(release)


def committed(dataset):
    return Account.objects.filter(dataset=dataset).aggregate(total=Sum("committed"))["total"]


def drawing_of(release):
    return Drawing.objects.get(pk=release.pk)
