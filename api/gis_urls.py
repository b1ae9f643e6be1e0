"""Routes the addresses for programs that show maps: tiles, and OGC API."""

from django.urls import path

from api.views import docs
from api.views.gis import coverages, features, ogc, tiles

app_name = "gis"
_TILE = "tiles/<uuid:release_id>/<int:zoom>/<int:x>/<int:y>"
_COLLECTION = "ogc/collections/<uuid:release_id>"

urlpatterns = [
    path("tiles/<uuid:release_id>/tiles.json", tiles.TileJsonView.as_view(), name="tilejson"),
    path(f"{_TILE}.png", tiles.MapTileView.as_view(), {"scale": 1}, "tile"),
    path(f"{_TILE}@2x.png", tiles.MapTileView.as_view(), {"scale": 2}, "tile-2x"),
    path("tiles/<path:rest>", docs.NowhereView.as_view(), name="no-tiles"),
    path("ogc/", ogc.LandingView.as_view(), name="landing"),
    path("ogc/conformance", ogc.ConformanceView.as_view(), name="conformance"),
    path("ogc/api", ogc.DescriptionView.as_view(), name="ogc-api"),
    path("ogc/collections", ogc.CollectionsView.as_view(), name="collections"),
    path(_COLLECTION, ogc.CollectionView.as_view(), name="collection"),
    path(f"{_COLLECTION}/items", features.ItemsView.as_view(), name="items"),
    path(f"{_COLLECTION}/items/<int:number>", features.ItemView.as_view(), name="item"),
    path(f"{_COLLECTION}/coverage", coverages.CoverageView.as_view(), name="coverage"),
    path(f"{_COLLECTION}/schema", coverages.RasterSchemaView.as_view(), name="schema"),
    path("ogc/<path:rest>", docs.NowhereView.as_view(), name="no-collections"),
]
