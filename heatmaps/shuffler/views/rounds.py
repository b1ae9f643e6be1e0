"""Serves what is public of a round: its facts and its table."""

import time
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from heatmaps.shuffler import problems
from heatmaps.shuffler.life import round_files
from heatmaps.shuffler.models import Round, State


def open_round(round_id: UUID) -> Round:
    """Returns a round that takes packets now. Errors: Refusal."""
    stored_round = Round.objects.filter(pk=round_id).exclude(facts="").defer("facts").first()
    now = time.time()
    if stored_round is None:
        raise problems.Refusal("unknown_round")
    if stored_round.state != State.READY or now >= stored_round.closes_at:
        raise problems.Refusal("round_closed")
    if now < stored_round.opens_at:
        raise problems.Refusal("round_not_open")
    return stored_round


@require_safe
def facts(request: HttpRequest, round_id: UUID) -> HttpResponse:
    """Serves the very bytes that devices hash."""
    stored_round = Round.objects.filter(pk=round_id).exclude(facts="").first()
    if stored_round is None:
        return problems.answer(problems.Refusal("unknown_round"))
    etag = f'"{stored_round.facts_sha256}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        response = HttpResponse(stored_round.facts.encode(), content_type="application/json")
    _show_all(response, etag)
    return response


@require_safe
def table(request: HttpRequest, round_id: UUID) -> HttpResponseBase:
    """Serves the table, until the round ends."""
    stored_round = Round.objects.filter(pk=round_id).exclude(facts="").defer("facts").first()
    try:
        file = None if stored_round is None else round_files.table(stored_round.pk).open("rb")
    except FileNotFoundError:
        file = None
    if stored_round is None or file is None:
        return problems.answer(problems.Refusal("unknown_round"))
    etag = f'"table-{stored_round.facts_sha256}"'  # the facts hold the table's hash
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None:
        response = FileResponse(file, content_type="application/octet-stream")
    else:
        file.close()
    _show_all(response, etag)
    return response


def _show_all(response: HttpResponseBase, etag: str) -> None:
    """Lets scripts of every website read it: it is public."""
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"
    response["Access-Control-Allow-Origin"] = "*"
