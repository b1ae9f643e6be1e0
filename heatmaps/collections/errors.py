"""Defines why a round, or what a shuffler hands over, is refused; public facts only."""

# ruff: noqa: N818 - domain words; `except RoundIsFixed` says what happened

from typing import ClassVar

from heatmaps.ledger.errors import LedgerError


class CollectionError(LedgerError):
    """Refuses; nothing was written."""

    code: ClassVar[str] = "collection_error"


class NoCollection(CollectionError):
    """Says that a dataset is filled by uploads."""

    code = "not_a_collection"

    def __init__(self) -> None:
        super().__init__("this dataset is filled by uploads; only a collection has rounds")


class RoundIsFixed(CollectionError):
    """Says that the shuffler told other values before."""

    code = "round_is_fixed"

    def __init__(self) -> None:
        super().__init__("this round's key and invitations were told before, and they were others")


class RoundNotOpen(CollectionError):
    """Says that a round was cancelled, is open, or is not closed yet."""

    code = "round_not_open"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


class BatchDiffers(CollectionError):
    """Says that another batch was handed over before."""

    code = "batch_differs"

    def __init__(self) -> None:
        super().__init__("another batch of this round was handed over before")
