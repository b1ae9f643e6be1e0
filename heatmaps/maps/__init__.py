"""A released map or point for people: a document to look at, and the same in words and numbers."""

from heatmaps.centres import Centre, centres_of
from heatmaps.maps.distances import distance_parts
from heatmaps.maps.document import MapParts, document, map_parts
from heatmaps.maps.point import PointParts, PointWords, point_document, point_parts, point_words
from heatmaps.maps.rings import rings_document
from heatmaps.maps.table import TableRow, top_regions
from heatmaps.maps.zones import zone_parts

__all__ = [
    "Centre",
    "MapParts",
    "PointParts",
    "PointWords",
    "TableRow",
    "centres_of",
    "distance_parts",
    "document",
    "map_parts",
    "point_document",
    "point_parts",
    "point_words",
    "rings_document",
    "top_regions",
    "zone_parts",
]
