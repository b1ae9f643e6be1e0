"""Keeps what was opened from staying in memory that is free.

Of the reports of a round that ended, the messages that each was of would else be found there for hours.
"""

import ctypes
from typing import Final

_M_PERTURB: Final = -6  # of glibc's `mallopt`; its manual names it, and its header the number
_WITH: Final = 0xFF


def overwrite_what_is_freed() -> bool:
    """Has the allocator overwrite blocks that are given back; False where it is another one than glibc's.

    Blocks below a kilobyte may be kept as they are for the next use: packets and batches are larger.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and mallopt(_M_PERTURB, _WITH) == 1
