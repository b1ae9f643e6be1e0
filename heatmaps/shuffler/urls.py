"""Routes all addresses of the shuffler."""

from django.urls import path

from heatmaps.shuffler.views import page, reports, rounds

handler400 = "heatmaps.shuffler.problems.bad_request"
handler404 = "heatmaps.shuffler.problems.not_found"
handler500 = "heatmaps.shuffler.problems.server_error"

urlpatterns = [
    path("healthz", page.healthz),
    path("rounds/<uuid:round_id>/facts.json", rounds.facts),
    path("rounds/<uuid:round_id>/table.bin", rounds.table),
    path("rounds/<uuid:round_id>/reports/", reports.take_report),
    path("rounds/<uuid:round_id>/invitations/", reports.give_invitation),
    path("contribute/", page.file),
    path("contribute/<path:name>", page.file),
]
