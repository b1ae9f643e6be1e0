"""Draws Pólya numbers as sums of clusters, by comparisons of integers alone.

Law and proof: Quenouille 1949; coins by Canonne, Kamath, Steinke 2020, Algorithm 1.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hazemap_device.encodings.running_sums import RunningSums
from hazemap_device.random_words import WordSource, uniform_below

_FARTHEST: Final = 400  # scales


@dataclass(frozen=True, slots=True, kw_only=True)
class Polya:
    """Draws a number of clusters from a table, each of a size k with P(k) ∝ e^(−k/scale)/k."""

    scale: Fraction
    counts: RunningSums

    def draw(self, words: WordSource) -> int:
        clusters = self.counts.entry(words)
        return sum(self._size(words) for _ in range(clusters))

    def _size(self, words: WordSource) -> int:
        octaves = int(_FARTHEST * self.scale).bit_length()
        while True:
            first = 1 << uniform_below(words, octaves)
            k = first + uniform_below(words, first)
            if uniform_below(words, k) >= first:  # kept with probability first / k
                continue
            whole, rest = divmod((k - 1) * self.scale.denominator, self.scale.numerator)
            if all(coin(words, 1, 1) for _ in range(whole)) and coin(words, rest, self.scale.numerator):
                return k


def coin(words: WordSource, p: int, q: int) -> bool:
    """Returns whether it shows heads, with probability e^(−p/q), for 0 ≤ p ≤ q."""
    i = 1
    while uniform_below(words, q) < p and uniform_below(words, i) == 0:
        i += 1
    return i % 2 == 1
