"""The only writer of release states, balances, allowances and events.

| move | from | to | balance | from any other state |
| --- | --- | --- | --- | --- |
| reserve | (new) | reserved | + charges, where all fit | an error of the database |
| spend | reserved, not expired | spent | kept | False: the task stops |
| publish | spent | published | kept | IllegalTransition: the draw is thrown away |
| fail | spent | failed | kept | IllegalTransition |
| cancel | reserved | cancelled | − charges | False |

Each move is one transaction: the dataset's ledger row is locked first, then its accounts by primary key,
each with its allowances; the state moves by an UPDATE that names the old state and must hit one row; the
event is written with it. On SQLite the transaction takes the write lock at BEGIN (`transaction_mode`
IMMEDIATE in the settings). On PostgreSQL moves queue for the ledger's row, and a reservation is one statement
(migration 0016).
"""

from heatmaps.ledger.transitions.allowances import change_allowance
from heatmaps.ledger.transitions.drawing import cancel, fail, publish, spend
from heatmaps.ledger.transitions.limits import change_limit
from heatmaps.ledger.transitions.locks import locked
from heatmaps.ledger.transitions.moves import (
    ALLOWANCE,
    CANCEL,
    FAIL,
    LIMIT,
    LONGEST_REASON,
    MOVES,
    OPEN,
    PUBLISH,
    QUEUED,
    RESERVE,
    RETENTION,
    SCHEDULE,
    SPEND,
    UNSET,
    VERSION,
    Move,
    Unset,
)
from heatmaps.ledger.transitions.opening import open_ledger, record
from heatmaps.ledger.transitions.reserving import reserve

__all__ = [
    "ALLOWANCE",
    "CANCEL",
    "FAIL",
    "LIMIT",
    "LONGEST_REASON",
    "MOVES",
    "OPEN",
    "PUBLISH",
    "QUEUED",
    "RESERVE",
    "RETENTION",
    "SCHEDULE",
    "SPEND",
    "UNSET",
    "VERSION",
    "Move",
    "Unset",
    "cancel",
    "change_allowance",
    "change_limit",
    "fail",
    "locked",
    "open_ledger",
    "publish",
    "record",
    "reserve",
    "spend",
]
