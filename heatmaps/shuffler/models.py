"""Stores who is enrolled, and of each round its invitations until its end; its packets are a file.

A thief of the database reads who is enrolled and how many invitations each round has. With the packet files
he knows which were used, and neither by whom (no invitation names a person) nor what packets say (the key of
a round is another file). Nothing says when or in which order packets came: taking one changes no row, and its
room was made beforehand (`life.packet_file`).
"""

from typing import ClassVar

from django.db import models


class Collection(models.Model):
    """Keeps one row of rounds at one analyser; its token is a file (`life.analysers`)."""

    objects: ClassVar[models.Manager["Collection"]] = models.Manager()

    slug = models.SlugField(max_length=200, unique=True)
    analyser_url = models.URLField(max_length=500)
    operator = models.CharField(max_length=200)
    url = models.URLField(max_length=500)  # where devices find this shuffler

    class Meta:
        app_label = "shuffler"

    def __str__(self) -> str:
        return self.slug


class Person(models.Model):
    objects: ClassVar[models.Manager["Person"]] = models.Manager()

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE)
    name = models.CharField(max_length=200)

    class Meta:
        app_label = "shuffler"
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="one_person_a_name")]

    def __str__(self) -> str:
        return f"person {self.pk}"


class State(models.TextChoices):
    PREPARED = "prepared", "key and invitations are made; the facts are not fixed yet"
    READY = "ready", "facts fixed; packets are taken between the moments"
    CLOSING = "closing", "no more packets; not handed over yet"
    HANDED_OVER = "handed_over", "handed over and forgotten"
    TOO_FEW = "too_few", "too few reports: nothing handed over, all forgotten"
    CANCELLED = "cancelled", "cancelled by the analyser, all forgotten"
    REFUSED = "refused", "the analyser's facts did not hold what was committed, all forgotten"
    GIVEN_UP = "given_up", "the analyser took nothing, all forgotten"
    RESTORED = "restored", "the state is a copy: nothing handed over, all forgotten"


FINAL = (State.HANDED_OVER, State.TOO_FEW, State.CANCELLED, State.REFUSED, State.GIVEN_UP, State.RESTORED)


class Round(models.Model):
    """Keeps a round, whose key, secrets and table are files in a folder of its own (`life.round_files`)."""

    objects: ClassVar[models.Manager["Round"]] = models.Manager()

    id = models.UUIDField(primary_key=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT)
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=State.choices, default=State.PREPARED)
    # What is committed to:
    public_key = models.CharField(max_length=43)
    places = models.PositiveIntegerField()  # invitations, or how many reports an open link takes
    invitations_sha256 = models.CharField(max_length=64)
    open_link = models.BooleanField()
    reports_per_person = models.PositiveIntegerField()
    # What the facts say; before they are known, what the plan says:
    opens_at = models.BigIntegerField()  # seconds since 1970
    closes_at = models.BigIntegerField()
    least_reports = models.PositiveIntegerField()
    messages = models.PositiveIntegerField()
    message_bytes = models.PositiveIntegerField()
    facts = models.TextField(blank=True)
    facts_sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        app_label = "shuffler"

    def __str__(self) -> str:
        return f"round {self.pk}"


class Invitation(models.Model):
    """Keeps one of a person; an open link's are stored nowhere (`secret_texts.is_of_link`)."""

    objects: ClassVar[models.Manager["Invitation"]] = models.Manager()

    round = models.ForeignKey(Round, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret
    # In the packet file; null: of an open link, made by a version that stored those.
    slot = models.PositiveIntegerField(null=True)

    class Meta:
        app_label = "shuffler"

    def __str__(self) -> str:
        return f"invitation {self.pk}"
