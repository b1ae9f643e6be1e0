"""A released map for people: a document to look at, and the same as a table."""

from heatmaps.maps.document import MapParts, document, map_parts
from heatmaps.maps.table import TableRow, top_regions

__all__ = ["MapParts", "TableRow", "document", "map_parts", "top_regions"]
