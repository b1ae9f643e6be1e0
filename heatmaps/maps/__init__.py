"""Draws released results for people, and says the same in words and numbers."""

from heatmaps.area_centres import Centre, centres_of
from heatmaps.maps.document import MapParts, document, map_parts
from heatmaps.maps.table import TableRow, top_regions

__all__ = ["Centre", "MapParts", "TableRow", "centres_of", "document", "map_parts", "top_regions"]
