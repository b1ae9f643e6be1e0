"""Keeps when the clock of a deployment last ticked, for processes that cannot see it."""

from django.db import models


class Heartbeat(models.Model):
    """Holds the last moment that a process was at work, by the database's own time: one row a kind of
    process."""

    name = models.CharField(max_length=20, primary_key=True)
    beaten_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
