"""Random sources that a test controls word by word."""

import numpy as np


class Scripted:
    """A source that hands out the given words, read-only, and then must not be asked again."""

    def __init__(self, *words):
        self.left = list(words)

    def words(self, count):
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        array = np.array(taken, dtype=np.uint64)
        array.flags.writeable = False
        return array
