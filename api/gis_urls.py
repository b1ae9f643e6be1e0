"""Routes the addresses for programs that show maps: tiles, and OGC API."""

from django.urls import path

from api.views import docs
from api.views.gis import tiles

app_name = "gis"
_TILE = "tiles/<uuid:release_id>/<int:zoom>/<int:x>/<int:y>"

urlpatterns = [
    path("tiles/<uuid:release_id>/tiles.json", tiles.TileJson.as_view(), name="tilejson"),
    path(f"{_TILE}.png", tiles.MapTile.as_view(), {"scale": 1}, "tile"),
    path(f"{_TILE}@2x.png", tiles.MapTile.as_view(), {"scale": 2}, "tile-2x"),
    path("tiles/<path:rest>", docs.Nowhere.as_view(), name="no-tiles"),
]
