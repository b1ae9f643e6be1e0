"""Reports by itself: once in every public slot, moved or not, with a place or without one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hazemap_device.agreement import Agreement
from hazemap_device.errors import DeviceError
from hazemap_device.facts import Facts
from hazemap_device.link import Link
from hazemap_device.places import Place
from hazemap_device.report import Device, Receipt
from hazemap_device.slots import Slot, slot_at
from hazemap_device.whereabouts import Whereabouts

RETRY_S: Final = 60.0  # after a refusal; also how often the links are read again
_DONE: Final = ("all_sent", "slot_sent", "left", "invitation_used")


@dataclass(kw_only=True)
class Daemon:
    """Follows the rounds of a file of links, one a line, which may grow while it runs.

    All it remembers is in the device's odometer: it may be stopped and started at any moment.
    """

    device: Device
    links: Path = field(repr=False)
    whereabouts: Whereabouts = field(repr=False)
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    say: Callable[[str], None]
    analyser_url: str | None = None
    shuffler_url: str | None = None
    _facts: dict[str, Facts] = field(default_factory=dict, repr=False)

    def run(self) -> None:
        """Goes on until it is stopped."""
        while True:
            wakes_at = self.step()
            self.sleep(max(0.05, min(wakes_at - self.clock(), RETRY_S)))

    def step(self) -> float:
        """Sends what is due and returns when to look again."""
        return min((self._followed(link) for link in self._read_links()), default=self.clock() + RETRY_S)

    def _followed(self, link: Link) -> float:
        slot = None
        try:
            facts = self._facts_of(link)
            slot = slot_at(facts, self.clock())
            if slot is not None:
                self._send(link, facts, slot)
            elif self.clock() < facts.opens_at:
                return facts.opens_at
        except DeviceError as refusal:
            if refusal.code not in _DONE:
                self.say(str(refusal))
        # Never later than the next slot's start, which nobody shall miss.
        again_at = self.clock() + RETRY_S
        return again_at if slot is None else min(slot.ends_at, again_at)

    def _send(self, link: Link, facts: Facts, slot: Slot) -> None:
        if self.device.resend(link):
            self.say(f"Round {facts.number}: an earlier report arrived.")
        self.device.odometer.check(facts, slot=slot.index, invitation=link.secret)
        # Who starts late takes as long for reading as everybody.
        sends_at = max(slot.sends_at, self.clock() + slot.sends_at - slot.starts_at)
        if sends_at >= slot.ends_at:
            return
        # In every slot a place is asked for and a report is sent; without a place it is the region's middle.
        place = self.whereabouts(sends_at - self.clock()) or facts.region.centre
        self.sleep(max(0.0, sends_at - self.clock()))
        while self._reported(link, place, slot).is_resent:
            pass
        self.say(f"Round {facts.number}: report {slot.index + 1} of {facts.reports_per_person} sent.")

    def _reported(self, link: Link, place: Place, slot: Slot) -> Receipt:
        return self.device.report(
            link,
            [place],
            analyser_url=self.analyser_url,
            shuffler_url=self.shuffler_url,
            slot=slot.index,
        )

    def _facts_of(self, link: Link) -> Facts:
        if link.round not in self._facts:
            agreement = Agreement.reached(link, analyser_url=self.analyser_url)
            self._facts[link.round] = agreement.facts
        return self._facts[link.round]

    def _read_links(self) -> list[Link]:
        try:
            lines = self.links.read_text(encoding="ascii", errors="replace").splitlines()
            return [Link.parse(line) for line in lines if line.strip()]
        except OSError:
            self.say("The file of links cannot be read. Check its name.")
        except DeviceError as refusal:
            self.say(f"In the file of links: {refusal}")
        return []
