"""Answers `/healthz`: whether the product works, and nothing more, to anyone."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from heatmaps.http import health


@login_not_required
@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answers 200 once migrated, all parts work and a demo has its first release; else 503 and a reason."""
    look = health.latest()
    if look.problem:
        answer = {"status": "unavailable", "reason": look.problem, "missing": look.missing}
        return JsonResponse(answer, status=503)
    return JsonResponse({"status": "ok"})
