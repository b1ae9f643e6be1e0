"""A released map for people: a document to look at, and the same as a table."""

from heatmaps.maps.document import document
from heatmaps.maps.table import TableRow, top_regions

__all__ = ["TableRow", "document", "top_regions"]
