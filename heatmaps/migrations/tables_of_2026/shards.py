"""Releases that several workers read at once."""

from django.db import models
from django.db.models import CASCADE

from heatmaps.migrations.tables_of_2026.columns import chosen, extends, key, one, random_name, table

TABLES = [
    table(
        "FanOut",
        {
            "release": extends("heatmaps.release", "fan_out", CASCADE),
            "left": models.PositiveIntegerField(),
            "elected": models.BooleanField(default=False),
            "created_at": models.DateTimeField(),
        },
    ),
    table(
        "Shard",
        {
            "id": random_name(),
            "fan_out": key("heatmaps.fanout", "shards", CASCADE),
            "number": models.PositiveIntegerField(),
            "of": models.PositiveIntegerField(),
            "state": chosen("waiting", ("waiting", "waiting"), ("claimed", "claimed"), ("done", "done")),
            "attempts": models.PositiveIntegerField(default=0),
            "lease_until": models.DateTimeField(null=True),
        },
        ordering=["fan_out", "number"],
        constraints=[one("one_shard_per_number", "fan_out", "number")],
    ),
    table(
        "ShardPiece",
        {
            "shard": key("heatmaps.shard", "pieces", CASCADE),
            "number": models.PositiveIntegerField(),
            "content": models.BinaryField(),
        },
        constraints=[one("one_piece_per_number", "shard", "number")],
    ),
]
