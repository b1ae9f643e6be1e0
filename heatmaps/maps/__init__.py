"""Draws released results for people, and says the same in words and numbers."""

from heatmaps.maps.document import MapParts, document, map_parts
from heatmaps.maps.table import TableRow, top_regions
from heatmaps.places.area_centres import Centre, centres_of

__all__ = ["Centre", "MapParts", "TableRow", "centres_of", "document", "map_parts", "top_regions"]
