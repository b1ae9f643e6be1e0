"""Draws uniform integers from 64-bit random words, by rejection alone."""

import os
from typing import Final, Protocol

WORD_BITS: Final = 64


class WordSource(Protocol):
    """Draws independent uniform 64-bit words. An argument everywhere, a default nowhere."""

    def word(self) -> int:
        """Returns the next word."""
        ...


class SystemWords:
    """Draws from the operating system's cryptographic source; the only one for anything that is sent."""

    __slots__ = ()

    def word(self) -> int:
        return int.from_bytes(os.urandom(WORD_BITS // 8), "little")


def uniform_below(source: WordSource, bound: int) -> int:
    """Draws a uniform integer from 0 to `bound` - 1, exactly; for a bound of 1 no word is used.

    Bounds up to 2^64: a word modulo the bound where it lies below the largest multiple of the bound, else
    the next word. Larger bounds: as many bits as the bound has, drawn again until they are below it.
    """
    if bound > 1 << WORD_BITS:
        return _below_large(source, bound)
    if bound == 1:
        return 0
    first_bad = (1 << WORD_BITS) - (1 << WORD_BITS) % bound
    while (word := source.word()) >= first_bad:
        pass
    return word % bound


def _below_large(source: WordSource, bound: int) -> int:
    bits = (bound - 1).bit_length()
    while True:
        number = 0
        for position in range(0, bits, WORD_BITS):
            number |= source.word() << position
        number &= (1 << bits) - 1
        if number < bound:
            return number
