"""`/healthz`: is the product able to work? Says no more than that, to anybody who asks."""

from functools import cache
from typing import Final

from celery import current_app
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

from heatmaps.models import Dataset, Release, ReleaseState

WORKER_SECONDS: Final = 1.0  # how long a worker may take to answer


@login_not_required
@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """200 once migrated, a worker answers, and a demo has its first release; else 503 with the reason."""
    problem = _database_problem() or _worker_problem()
    if problem:
        return JsonResponse({"status": "unavailable", "reason": problem}, status=503)
    return JsonResponse({"status": "ok"})


def _database_problem() -> str:
    try:
        _check_migrations()
        return _demo_problem()
    except DatabaseError:
        return "the database does not answer"
    except _NotMigratedError:
        return "the database is not migrated"


class _NotMigratedError(Exception):
    pass


@cache  # remembers success only
def _check_migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise _NotMigratedError


def _demo_problem() -> str:
    if not Dataset.objects.filter(is_demo=True).exists():
        return ""
    published = Release.objects.filter(dataset__is_demo=True, state=ReleaseState.PUBLISHED)
    return "" if published.exists() else "the demo's first release is not published yet"


def _worker_problem() -> str:
    try:
        answers = current_app.control.broadcast("ping", reply=True, timeout=WORKER_SECONDS, limit=1)
    except OperationalError:
        return "the broker does not answer"
    return "" if answers else "no worker answers"
