"""Addresses of the whole product."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("heatmaps.views.urls")),
]
