"""Addresses of the whole product."""

from django.contrib import admin
from django.urls import include, path

from heatmaps.views.health import healthz

handler500 = "heatmaps.views.broken.server_error"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("api/", include("api.urls")),
    path("", include("heatmaps.views.urls")),
]
