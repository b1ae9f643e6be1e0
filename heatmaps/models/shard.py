"""A spent release of many check-ins, read by several workers at once: a share of the persons each.

These rows say how much data there is, and hold partial sums of it: raw data, which nobody is shown, and
which is deleted when the release ends. `heatmaps.shards` alone writes them.
"""

import uuid

from django.db import models

from heatmaps.models.release import Release


class FanOut(models.Model):
    """One row a release; `left` counts its shards that are not read, `elected` that one worker draws."""

    release = models.OneToOneField(Release, models.CASCADE, primary_key=True, related_name="fan_out")
    left = models.PositiveIntegerField()
    elected = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"fan-out of {self.release_id}"


class ShardState(models.TextChoices):
    """`WAITING -> CLAIMED -> DONE`; a claim that was given up, or ran out, may be claimed again."""

    WAITING = "waiting", "waiting"
    CLAIMED = "claimed", "claimed"
    DONE = "done", "done"


class Shard(models.Model):
    """One share of the persons. Its name is random: messages that carry it do not count shares."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    fan_out = models.ForeignKey(FanOut, models.CASCADE, related_name="shards")
    number = models.PositiveIntegerField()
    of = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=ShardState.choices, default=ShardState.WAITING)
    # Also tells two holders of a claim apart.
    attempts = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["fan_out", "number"]
        constraints = [models.UniqueConstraint(fields=["fan_out", "number"], name="one_shard_per_number")]

    def __str__(self) -> str:
        return f"shard {self.id}"


class ShardPiece(models.Model):
    """Partial sums of a shard that is done, as `heatmaps.masses.partial` writes them: a part of the bytes."""

    shard = models.ForeignKey(Shard, models.CASCADE, related_name="pieces")
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shard", "number"], name="one_piece_per_number")]

    def __str__(self) -> str:
        return f"piece of shard {self.shard_id}"
