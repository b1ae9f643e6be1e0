"""Writes release states, balances, allowances and events; nothing else does.

| move | from | to | balance | from any other state |
| --- | --- | --- | --- | --- |
| reserve | (new) | reserved | + charges, where all fit | an error of the database |
| spend | reserved, from `starts_at` on, not expired | spent | kept | False |
| publish | spent, drawn, from `visible_at` on | published | kept | IllegalTransition |
| fail | spent, given up, from `visible_at` on | failed | kept | IllegalTransition |
| delay | spent, without an outcome, at `visible_at` | spent | kept | IllegalTransition |
| cancel | reserved, by a person before `starts_at` | cancelled | − charges | False |
| lose | reserved, in a restored database or a closed ledger | failed | kept | left alone |

Each move is one transaction: the dataset's ledger row is locked first, then its accounts by primary key,
each with its allowances; the state moves by an UPDATE that names the old state and must hit one row; the
event is written with it: the database checks it and moves the head of the chain. On SQLite the transaction
takes the write lock at BEGIN (`transaction_mode` IMMEDIATE in the settings). The moves are a table in
`moves`, with the names of all events.
"""

from heatmaps.ledger.transitions.allowances import change_allowance
from heatmaps.ledger.transitions.closing import close, take_up
from heatmaps.ledger.transitions.drawing import cancel, delay, fail, publish, spend
from heatmaps.ledger.transitions.limits import change_limit
from heatmaps.ledger.transitions.locks import locked
from heatmaps.ledger.transitions.opening import open_ledger, record
from heatmaps.ledger.transitions.reserving import reserve
from heatmaps.ledger.transitions.restoring import Unknown, confirm, restore

__all__ = [
    "Unknown",
    "cancel",
    "change_allowance",
    "change_limit",
    "close",
    "confirm",
    "delay",
    "fail",
    "locked",
    "open_ledger",
    "publish",
    "record",
    "reserve",
    "restore",
    "spend",
    "take_up",
]
