"""Sends reports: agree, count, draw, seal, keep, send, in this order."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hazemap_device.agreement import Agreement
from hazemap_device.errors import DeviceError
from hazemap_device.facts import Facts
from hazemap_device.fetch import Answer, send
from hazemap_device.link import SECRET, Link
from hazemap_device.odometer import Odometer, Pending
from hazemap_device.places import Place
from hazemap_device.random_words import SystemWords
from hazemap_device.sealing import sealed_packet

# What a shuffler may refuse for good; after any other answer the same bytes are tried again.
_FINAL: Final = {
    "round_closed": "The round is closed. Your report came too late.",
    "wrong_size": "The shuffler takes reports of another size. Tell who invited you.",
    "unknown_invitation": "The shuffler does not know your invitation. Ask for a new one.",
    "invitation_used": "Your invitation has been used. Ask for a new one if it was not by you.",
    "unknown_round": "The shuffler knows no such round any more. Your report was not taken.",
}
_LATER: Final = {
    "round_not_open": "The round is not open there yet. Run this again later; the same report is sent.",
    "too_many_requests": "The shuffler is busy. Run this again later; the same report is sent.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proves that the shuffler has a packet: its SHA-256."""

    sha256: str
    is_resent: bool  # an earlier packet, drawn from the place of then


class Device:
    """Sends a person's reports; what it has sent and what that cost are in `state_dir`."""

    def __init__(self, state_dir: Path | str, *, clock: Callable[[], float] = time.time) -> None:
        self.odometer = Odometer(Path(state_dir), clock=clock)
        self._clock = clock

    def report(
        self,
        link: Link | str,
        places: Iterable[Place],
        *,
        analyser_url: str | None = None,
        shuffler_url: str | None = None,
        agreed: Facts | None = None,
        slot: int | None = None,
    ) -> Receipt:
        """Sends one report of these places, or the same bytes again where one still waits for its receipt.

        shuffler_url: where the link may lead besides the shuffler of the facts.
        agreed: what the person has seen; other facts are refused. slot: of the daemon.
        Errors: `DeviceError`. Once a report is counted it stays counted, whether it arrives or not.
        """
        link = link if isinstance(link, Link) else Link.parse(link)
        with self.odometer.locked():
            self.odometer.forget_closed(self._clock())
            for pending in self.odometer.pending(link.round):
                return self._send(pending, is_resent=True)
            agreement = Agreement.reached(link, analyser_url=analyser_url)
            if agreed is not None and agreed.content != agreement.facts.content:
                raise DeviceError(
                    "facts_changed", "The round's facts changed. Look at them again with: show."
                )
            agreement.check_shuffler(link, shuffler_url=shuffler_url)
            agreement.check_open(self._clock())
            return self._send(self._draw(link, agreement, list(places), slot), is_resent=False)

    def resend(self, link: Link) -> Receipt | None:
        """Sends what still waits for a receipt of a round, if anything does."""
        with self.odometer.locked():
            self.odometer.forget_closed(self._clock())
            for pending in self.odometer.pending(link.round):
                return self._send(pending, is_resent=True)
        return None

    def _draw(self, link: Link, agreement: Agreement, places: list[Place], slot: int | None) -> Pending:
        facts = agreement.facts
        facts.encoding.check_places(len(places))
        self.odometer.check(facts, slot=slot, invitation=link.secret)
        invitation = link.secret or self._invitation(link, facts)
        report = self.odometer.count(facts, slot=slot, invitation=invitation)
        cells = [facts.region.cell(place) for place in places]
        packet = sealed_packet(
            facts.encoding.report(cells, agreement.table, SystemWords()),
            analyser_key=facts.analyser.key,
            shuffler_key=facts.shuffler.key,
            facts_sha256=facts.sha256,
        )
        if len(packet) != facts.packet_bytes:
            raise DeviceError("wrong_size", "The report has another size than agreed. Nothing was sent.")
        return self.odometer.keep(
            report, packet=packet, address=link.address("reports/"), invitation=invitation
        )

    def _send(self, pending: Pending, *, is_resent: bool) -> Receipt:
        answer = send(
            pending.address,
            pending.packet,
            {"Content-Type": "application/octet-stream", "Hazemap-Invitation": pending.invitation},
        )
        if answer.status not in (200, 201):
            raise self._refusal(pending, answer)
        sha256 = hashlib.sha256(pending.packet).hexdigest()
        if _member(answer, "receipt") != sha256:
            raise DeviceError(
                "bad_receipt", "The shuffler's receipt is of another report. Run this again later."
            )
        self.odometer.close(pending.id, receipt=sha256)
        return Receipt(sha256=sha256, is_resent=is_resent)

    def _refusal(self, pending: Pending, answer: Answer) -> DeviceError:
        if answer.code in _FINAL:
            self.odometer.close(pending.id, receipt="")
            return DeviceError(answer.code, _FINAL[answer.code])
        if answer.code in _LATER:
            return DeviceError(answer.code, _LATER[answer.code])
        return DeviceError(
            "not_taken",
            "The shuffler did not take the report. Run this again later; the same report is sent.",
        )

    def _invitation(self, link: Link, facts: Facts) -> str:
        """Returns the unused one that this device was given, or a new one, where anybody may take part."""
        if not facts.open_link:
            raise DeviceError(
                "no_invitation", "This round is by invitation. Use the whole link that you got."
            )
        invitation = self.odometer.invitation(facts.round)
        if invitation is not None:
            return invitation
        answer = send(link.address("invitations/"), b"", {})
        secret = _member(answer, "invitation")
        if answer.status != 201 or not SECRET.fullmatch(secret):
            raise DeviceError("no_invitation", "The shuffler gives no invitation now. Try again later.")
        self.odometer.keep_invitation(facts, secret)
        return secret


def _member(answer: Answer, name: str) -> str:
    try:
        value = json.loads(answer.content)
    except (ValueError, RecursionError):
        return ""
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, str) else ""
