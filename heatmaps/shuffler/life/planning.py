"""Makes a planned round ready: key, invitations, commitment, facts.

Files come before the row that needs them and the row before the commitment; so whatever moment the process is
killed at, what was committed to is there, and is committed to once more.
"""

import hashlib
import logging
import shutil
import time
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from heatmaps.shuffler import facts, sealing, secret_texts, settings
from heatmaps.shuffler.analyser import Analyser, AnalyserRefuses
from heatmaps.shuffler.life import forgetting, round_files
from heatmaps.shuffler.life.packet_file import PacketFile
from heatmaps.shuffler.models import Collection, Invitation, Person, Round, State

MOST_PLACES: Final = 10_000_000
_SPARE_BYTES: Final = 256 * 2**20  # of the disk, which no round takes
_MOST_MOMENT: Final = 2**53
_MOST_NUMBER: Final = 2**31 - 1

_log = logging.getLogger(__name__)
_making = Lock()  # two analysers may name the same round: its files are one collection's


class NotYet(Exception):  # noqa: N818 - reads as what it says
    """Refuses for now. `reason`: what the operator can do about it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlan:
    """Describes a planned round, as the analyser lists it."""

    id: UUID
    number: int
    opens_at: int
    closes_at: int
    reports_per_person: int
    most_invitations: int
    open_link: bool
    least_reports: int
    messages: int
    message_bytes: int

    @classmethod
    def read(cls, listed: dict[str, Any]) -> "RoundPlan | None":
        """Reads a listed plan; None where something of it is missing or of another kind."""
        numbers = {name: listed.get(name) for name in cls.__dataclass_fields__ if name not in _NO_NUMBERS}
        for name, value in numbers.items():
            most = _MOST_MOMENT if name.endswith("_at") else _MOST_NUMBER
            if type(value) is not int or not 0 <= value <= most:
                return None
        if (round_id := read_id(listed)) is None or type(listed.get("open_link")) is not bool:
            return None
        return cls(id=round_id, open_link=listed["open_link"], **numbers)  # type: ignore[arg-type]  # as checked


_NO_NUMBERS = frozenset({"id", "open_link"})


def read_id(listed: dict[str, Any]) -> UUID | None:
    try:
        round_id = UUID(str(listed.get("round")))
    except ValueError:
        return None
    return round_id if str(round_id) == listed["round"] else None


def prepare(collection: Collection, plan: RoundPlan) -> Round:
    """Makes key and invitations of a round, before its opening moment. Errors: NotYet."""
    if plan.opens_at <= time.time():
        raise NotYet("its opening moment has passed")
    people = Person.objects.filter(collection=collection).order_by("pk")
    names = [] if plan.open_link else [person.name for person in people]
    places = plan.most_invitations if plan.open_link else len(names) * plan.reports_per_person
    if not places:
        raise NotYet("nobody is enrolled")
    if places < plan.least_reports:
        raise NotYet("fewer people are enrolled than the round needs reports")
    if places > plan.most_invitations:
        raise NotYet("more people are enrolled than the round has places for")
    if places > MOST_PLACES:
        raise NotYet(f"it has more than {MOST_PLACES} places")
    if not plan.messages or not plan.message_bytes:
        raise NotYet("its reports say nothing")
    if sealing.packet_bytes(plan.messages, plan.message_bytes) > facts.MOST_PACKET_BYTES:
        raise NotYet(f"its packets have more than {facts.MOST_PACKET_BYTES} bytes")
    with _making:
        if Round.objects.filter(pk=plan.id).exists():
            raise NotYet("it has the id of another collection's round")
        prepared = _make(collection, plan, names, places)
    _log.info("round %s: key and invitations are made", prepared.id)
    return prepared


def _make(collection: Collection, plan: RoundPlan, names: list[str], places: int) -> Round:
    private_key, public_key = sealing.new_key()
    secrets = [(name, secret_texts.new()) for name in names for _ in range(plan.reports_per_person)]
    digests = sorted(secret_texts.digest(secret) for _, secret in secrets)
    row = Round(
        id=plan.id,
        collection=collection,
        number=plan.number,
        public_key=public_key,
        places=places,
        invitations_sha256=secret_texts.commitment(digests),
        open_link=plan.open_link,
        reports_per_person=plan.reports_per_person,
        opens_at=plan.opens_at,
        closes_at=plan.closes_at,
        least_reports=plan.least_reports,
        messages=plan.messages,
        message_bytes=plan.message_bytes,
    )
    _make_room(row)
    round_files.write_key(plan.id, private_key)
    if plan.open_link:
        round_files.write_link_key(plan.id, secret_texts.new_link_key())
    else:
        round_files.write_secrets(plan.id, secrets)
    with transaction.atomic():
        row.save(force_insert=True)
        # In the order of digests: rows and slots tell nothing of the order of people.
        Invitation.objects.bulk_create(
            [Invitation(round=row, digest=digest, slot=slot) for slot, digest in enumerate(digests)],
            batch_size=1000,
        )
    return row


def _make_room(row: Round) -> None:
    """Makes the packet file. Errors: NotYet where the disk has no room for everybody's packets."""
    file = PacketFile.of_round(row)
    free = shutil.disk_usage(settings.ROUNDS_DIR).free - _SPARE_BYTES
    if file.size > free:
        raise NotYet(f"its packets need {file.size // 2**20 + 1} MiB, more than the disk has")
    file.make()


def commit(prepared: Round, analyser: Analyser) -> None:
    """Tells the analyser, checks its facts, and takes packets from their opening moment.

    Errors: AnalyserAway, AnalyserRefuses.
    """
    try:
        text = analyser.commit(
            prepared.id,
            key=prepared.public_key,
            invitations=prepared.places,
            invitations_sha256=prepared.invitations_sha256,
        )
        terms = facts.checked(text, prepared)
        table = analyser.table(prepared.id)
        if hashlib.sha256(table).hexdigest() != terms.table_sha256:
            raise facts.WrongFacts("table_sha256")
    except facts.WrongFacts as wrong:
        _log.error("round %s: the analyser's facts are wrong in %s; it is not opened", prepared.id, wrong)
        forgetting.end(prepared, State.REFUSED)
        return
    except AnalyserRefuses as refusal:
        if refusal.code != "round_is_fixed":
            raise
        _log.error("round %s: the analyser has another shuffler's commitment for it", prepared.id)
        forgetting.end(prepared, State.REFUSED)
        return
    round_files.write_table(prepared.id, table)
    Round.objects.filter(pk=prepared.pk, state=State.PREPARED).update(
        state=State.READY,
        opens_at=terms.opens_at,
        closes_at=terms.closes_at,
        least_reports=terms.least_reports,
        facts=text,
        facts_sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
    _log.info("round %s: the facts are fixed", prepared.id)
