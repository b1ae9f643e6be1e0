"""Takes packets and gives invitations of open links. Neither changes the database.

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
from heatmaps.shuffler.life import round_files
from heatmaps.shuffler.life.packet_file import PacketFile
from heatmaps.shuffler.models import Invitation, Round, State
from heatmaps.shuffler.problems import Refusal
from heatmaps.shuffler.views.rounds import open_round

View = Callable[[HttpRequest, UUID], HttpResponse]


def refuses(view: View) -> View:
    """Makes a view whose refusals are answers."""

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
    """Stores a packet; its receipt goes out once it is on the disk."""
    stored_round = open_round(round_id)
    size = sealing.packet_bytes(stored_round.messages, stored_round.message_bytes)
    if body_length(request) != size:
        raise Refusal("wrong_size")
    invitation = _invitation(request, stored_round)
    if invitation is None:
        attempts.was_wrong(request)
        raise Refusal("unknown_invitation")
    packet = request.read(size)
    if len(packet) != size:
        raise Refusal("wrong_size")
    is_new = _store(stored_round, invitation, packet)
    return JsonResponse({"receipt": hashlib.sha256(packet).hexdigest()}, status=201 if is_new else 200)


@require_POST
@refuses
def give_invitation(request: HttpRequest, round_id: UUID) -> HttpResponse:
    """Gives a new invitation of an open link. It takes no place: a report does, which may come much later."""
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        raise Refusal("cross_site")  # another website would use up places with its visitors' browsers
    stored_round = open_round(round_id)
    if not stored_round.open_link:
        raise Refusal("unknown_round")
    attempts.ask_for_invitation(request, round_id, places=stored_round.places)
    link_key = round_files.read_link_key(stored_round.pk)
    if link_key is None:
        raise Refusal("round_closed")
    if PacketFile.of_round(stored_round).free_slot() is None:
        raise Refusal("too_many_requests")
    return JsonResponse({"invitation": secret_texts.new_of_link(link_key)}, status=201)


def _invitation(request: HttpRequest, stored_round: Round) -> Invitation | None:
    """Returns an invitation's row, or one as it would be of an open link's; None for any other text.

    Looking a hash up tells by its time nothing of the secret.
    """
    secret = request.headers.get("Hazemap-Invitation", "")
    if not secret_texts.is_one(secret):
        return None
    digest = secret_texts.digest(secret)
    if stored_round.open_link:
        link_key = round_files.read_link_key(stored_round.pk)
        if link_key is not None and secret_texts.is_of_link(secret, link_key):
            return Invitation(round=stored_round, digest=digest)
    return Invitation.objects.filter(round=stored_round, digest=digest).first()


def _store(stored_round: Round, invitation: Invitation, packet: bytes) -> bool:
    """Stores a packet; True where it is new, False where it was there. Errors: Refusal."""
    file, digest = PacketFile.of_round(stored_round), bytes.fromhex(invitation.digest)
    with transaction.atomic():
        # Within the transaction: closing is one, too, and one of both comes first.
        if not Round.objects.filter(pk=stored_round.pk, state=State.READY).exists():
            raise Refusal("round_closed")
        slot = file.slot_of(digest) if invitation.slot is None else invitation.slot
        stored = None if slot is None else file.read(slot)
        if stored is None:
            slot = file.free_slot() if slot is None else slot
            if slot is None:  # what was given and never used takes none
                raise Refusal("too_many_requests")
            file.write(slot, digest, packet)
            return True
        if not hmac.compare_digest(stored, packet):
            raise Refusal("invitation_used")
        file.sync()
    return False
