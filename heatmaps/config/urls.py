"""Routes all addresses of the product."""

from django.urls import include, path

from heatmaps.admin import site
from heatmaps.admin.shared import no_such_page
from heatmaps.views.account import sign_in
from heatmaps.views.health import healthz

handler404 = "heatmaps.views.errors.no_page"
handler500 = "heatmaps.views.errors.server_error"
handler429 = "heatmaps.http.rate_limits.try_later"  # allauth looks for it

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    # Before those of Django's administration, which they stand for.
    path("admin/autocomplete/", no_such_page, name="admin-autocomplete"),
    path("admin/r/<path:rest>", no_such_page, name="admin-view-on-site"),
    path("admin/login/", sign_in.admin_sign_in, name="admin-sign-in"),
    path("admin/password_change/", sign_in.admin_password, name="admin-password"),
    path("admin/", site.urls),
    path("api/", include("api.urls")),
    path("", include("api.gis_urls")),
    path("", include("heatmaps.views.account.sign_in_urls")),
    path("", include("heatmaps.views.urls")),
]
