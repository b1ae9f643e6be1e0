"""Gets a round's facts from both roles, and goes on only where they agree byte for byte."""

import hashlib
from dataclasses import dataclass, field
from typing import Self

from hazemap_device.errors import DeviceError
from hazemap_device.facts import MOST_BYTES, Facts
from hazemap_device.fetch import fetch, is_allowed, origin_of
from hazemap_device.link import Link
from hazemap_device.promise import check_promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Holds what both roles say a round is, and its table: the same for every person."""

    facts: Facts
    table: bytes = field(repr=False)

    @classmethod
    def reached(cls, link: Link, *, analyser_url: str | None = None) -> Self:
        """Asks both roles. analyser_url: where it is known from elsewhere, the facts must name it.

        Errors: `DeviceError` where the two differ (as a key made for one person would show), where the facts
        are not as agreed, where the table is another than the one they name, or where it keeps not what they
        promise.
        """
        content = fetch(link.address("facts.json"), most_bytes=MOST_BYTES)
        facts = Facts.from_bytes(content)
        if facts.round != link.round:
            raise DeviceError("other_round", "The server answers for another round. Do not take part.")
        if analyser_url is not None and (
            not is_allowed(analyser_url) or analyser_url.rstrip("/") != facts.analyser.url
        ):
            raise DeviceError(
                "other_analyser", "The round is not of the analyser that you named. Do not take part."
            )
        there = fetch(f"{facts.analyser.url}/rounds/{facts.round}/facts.json", most_bytes=MOST_BYTES)
        if there != content:
            raise DeviceError(
                "facts_differ",
                "Shuffler and analyser disagree about this round. Do not take part, and tell them.",
            )
        table = b""
        if facts.encoding.table_bytes:
            table = fetch(link.address("table.bin"), most_bytes=facts.encoding.table_bytes)
        if hashlib.sha256(table).hexdigest() != facts.table_sha256:
            raise DeviceError(
                "table_differs",
                "The round's table is not the one that was agreed. Do not take part, and tell them.",
            )
        check_promise(facts, table)
        return cls(facts=facts, table=table)

    def check_shuffler(self, link: Link, *, shuffler_url: str | None) -> None:
        """Raises `DeviceError` where a link leads to another origin than the facts' shuffler, or one named.

        Whoever serves the same facts elsewhere would see who sends, and could hold packets back.
        """
        named = [self.facts.shuffler.url] if shuffler_url is None else [self.facts.shuffler.url, shuffler_url]
        if origin_of(link.shuffler) not in map(origin_of, named):
            raise DeviceError(
                "other_shuffler",
                "The link leads elsewhere than to this round's shuffler. If you know why: --shuffler URL.",
            )

    def check_open(self, now: float) -> None:
        """Raises `DeviceError` before the round opens and from its closing moment on."""
        if now < self.facts.opens_at:
            raise DeviceError("round_not_open", "The round is not open yet. Try again when it is.")
        if now >= self.facts.closes_at:
            raise DeviceError("round_closed", "The round is closed. Nothing was sent.")
