"""Defines what every encoding does: from cells and random words to the messages of one report."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hazemap_device.errors import DeviceError
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Holds the largest logarithms of ratios of the probabilities of one report, from any two true cells."""

    near: float  # with centres at most a radius apart; 0 where there are none
    anywhere: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Measures cells: metres of a region's width and height, and the radius of a promise."""

    width_m: float
    height_m: float
    radius_m: float


class Encoding(ABC):
    """Holds public parameters of a round's law; places, table and words are arguments."""

    __slots__ = ()

    kind: ClassVar[str]
    takes_many: ClassVar[bool] = False  # places of one person
    is_local: ClassVar[bool] = False  # what a report costs follows from parameters and table alone

    @classmethod
    @abstractmethod
    def read(cls, values: object) -> Self:
        """Reads the parameters from the facts. Errors: `DeviceError`."""

    @property
    @abstractmethod
    def messages(self) -> int:
        """Counts the messages of a report."""

    @property
    @abstractmethod
    def message_bytes(self) -> int:
        """Counts the bytes of a message."""

    @property
    @abstractmethod
    def table_bytes(self) -> int:
        """Counts the bytes of the table that belongs to these parameters."""

    def check_places(self, count: int) -> None:
        """Checks the number of places. Errors: `DeviceError` for none, or several where one is asked for."""
        if count < 1:
            raise DeviceError("bad_places", "This round asks for a place. Give one.")
        if count > 1 and not self.takes_many:
            raise DeviceError("bad_places", "This round asks for one place only. Give one.")

    def report(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        """Draws the messages of one report. cells: finest cells of the person's places."""
        self.check_places(len(cells))
        if len(table) != self.table_bytes:
            raise DeviceError(
                "bad_table", "The round's table has another size than agreed. Do not take part."
            )
        return self._draw(cells, table, words)

    def check_table(self, table: bytes) -> None:
        """Checks that the table is a law; this one is for kinds without a table. Errors: `DeviceError`."""
        del table

    def losses(self, table: bytes, ground: Ground) -> Losses:
        """Computes what one report costs from the integers that it is drawn with; for local kinds."""
        raise NotImplementedError

    @abstractmethod
    def _draw(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]: ...
