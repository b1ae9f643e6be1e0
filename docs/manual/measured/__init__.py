"""Words measured accuracy of mechanisms: sections of sentences, lines and numbers.

All figures are read from the tables of `mechanisms.reproduction.measurements`, those in sentences as well.
"""

from functools import cache

from docs.manual.measured import maps, others
from docs.manual.measured.pictures import Numbers, Picture, Section

__all__ = ["Numbers", "Picture", "Section", "sections"]


@cache
def sections() -> tuple[Section, ...]:
    """Returns the sections in the order of the page."""
    return (
        maps.which(),
        maps.persons(),
        maps.resolution(),
        maps.spread(),
        maps.in_the_paper(),
        others.centres(),
        others.shuffled(),
        others.points(),
        others.reports(),
    )
