"""Defines the state machine as a table, and the names of all events."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from heatmaps.models import ReleaseState


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Holds a row of the package's table; `before` is empty for a release that does not exist yet."""

    before: ReleaseState | None
    after: ReleaseState


RESERVE, SPEND, PUBLISH, FAIL, CANCEL = "reserve", "spend", "publish", "fail", "cancel"
LOSE = "lose"  # queued in a database that was restored: it may have been drawn since
MOVES: Final[Mapping[str, Move]] = {
    RESERVE: Move(before=None, after=ReleaseState.RESERVED),
    SPEND: Move(before=ReleaseState.RESERVED, after=ReleaseState.SPENT),
    PUBLISH: Move(before=ReleaseState.SPENT, after=ReleaseState.PUBLISHED),
    FAIL: Move(before=ReleaseState.SPENT, after=ReleaseState.FAILED),
    CANCEL: Move(before=ReleaseState.RESERVED, after=ReleaseState.CANCELLED),
    LOSE: Move(before=ReleaseState.RESERVED, after=ReleaseState.FAILED),
}
QUEUED: Final = (ReleaseState.RESERVED, ReleaseState.SPENT)  # one state to the public
LATE, POSTPONE = "late", "postpone"  # other moments for a release that is queued
OPEN, LIMIT, ALLOWANCE = "open", "limit", "allowance"
RESTORED = "restored"  # the database was, and what cannot be known of the time since is charged
CONFIRMED = "confirmed"  # by a steward: the members and opt-outs of a dataset that was restored
VERSION, SCHEDULE, RETENTION = "version", "schedule", "retention"
BOUND = "bound"  # what a version of before versions had commitments holds
GUIDE = "guide"  # a guide file was stored
ROUND = "round"  # what a round of a collection is was fixed
PUBLICATION = "publication"  # others may read a release from now on
CLOSE = "close"  # for good: the chain before it does not verify
LONGEST_REASON: Final = 500  # characters


class Unset(Enum):
    UNSET = "unset"


UNSET: Final = Unset.UNSET
