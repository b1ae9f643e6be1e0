"""Takes packets and gives invitations of open links.

Checks go from what everybody knows to what only the invited know: round, moment, size, then the invitation,
and only for whoever has one the body is read. A refusal changes nothing that is stored.
"""

import hashlib
import hmac
from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.shuffler import attempts, facts, problems, sealing, secret_texts
from heatmaps.shuffler.life.planning import MOST_PLACES
from heatmaps.shuffler.models import Invitation, Round, State
from heatmaps.shuffler.problems import Refusal
from heatmaps.shuffler.views.rounds import open_round

View = Callable[[HttpRequest, UUID], HttpResponse]


def refuses(view: View) -> View:
    """A view whose refusals are answers."""

    @wraps(view)
    def answer(request: HttpRequest, round_id: UUID) -> HttpResponse:
        try:
            return view(request, round_id)
        except Refusal as refusal:
            return problems.answer(refusal)

    return answer


@takes_up_to(lambda: facts.MOST_PACKET_BYTES)
@require_POST
@refuses
def take_report(request: HttpRequest, round_id: UUID) -> HttpResponse:
    """Store a packet; its receipt goes out after the commit, which waits for the disk."""
    open_one = open_round(round_id)
    size = sealing.packet_bytes(open_one.messages, open_one.message_bytes)
    if body_length(request) != size:
        raise Refusal("wrong_size")
    digest = _digest(request)
    if digest is None or not Invitation.objects.filter(round=open_one, digest=digest).exists():
        attempts.was_wrong(request)
        raise Refusal("unknown_invitation")
    packet = request.read(size)
    if len(packet) != size:
        raise Refusal("wrong_size")
    is_new = _store(open_one, digest, packet)
    return JsonResponse({"receipt": hashlib.sha256(packet).hexdigest()}, status=201 if is_new else 200)


@require_POST
@refuses
def give_invitation(request: HttpRequest, round_id: UUID) -> HttpResponse:
    """A new invitation of an open link. It takes no place: a report does, which may come much later."""
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        raise Refusal("cross_site")  # another website would use up places with its visitors' browsers
    open_one = open_round(round_id)
    if not open_one.open_link:
        raise Refusal("unknown_round")
    attempts.ask_for_invitation(request, round_id, places=open_one.places)
    secret = secret_texts.new()
    with transaction.atomic():
        _check_ready(open_one)
        _check_place(open_one)
        if Invitation.objects.filter(round=open_one).count() >= MOST_PLACES:
            raise Refusal("too_many_requests")  # more than anybody needs would fill the disk
        Invitation.objects.create(round=open_one, digest=secret_texts.digest(secret))
    return JsonResponse({"invitation": secret}, status=201)


def _digest(request: HttpRequest) -> str | None:
    """Looking a hash up tells by its time nothing of the secret; None for what has not its form."""
    secret = request.headers.get("Hazemap-Invitation", "")
    return secret_texts.digest(secret) if secret_texts.is_one(secret) else None


def _store(open_one: Round, digest: str, packet: bytes) -> bool:
    """True where the packet is new, False where it was there. Errors: Refusal."""
    with transaction.atomic():
        _check_ready(open_one)
        own = Invitation.objects.filter(round=open_one, digest=digest)
        if own.filter(packet=None).exists():
            _check_place(open_one)
            own.update(packet=packet)
            return True
        stored = own.values_list("packet", flat=True).first()
    if stored is None:
        raise Refusal("round_closed")
    if not hmac.compare_digest(bytes(stored), packet):
        raise Refusal("invitation_used")
    return False


def _check_place(open_one: Round) -> None:
    """Within the transaction. What was given and never used holds nobody up. Errors: Refusal."""
    stored = Invitation.objects.filter(round=open_one, packet__isnull=False)
    if open_one.open_link and stored.count() >= open_one.places:
        raise Refusal("too_many_requests")


def _check_ready(open_one: Round) -> None:
    """Within the transaction: closing is one, too, and one of both comes first. Errors: Refusal."""
    if not Round.objects.filter(pk=open_one.pk, state=State.READY).exists():
        raise Refusal("round_closed")
