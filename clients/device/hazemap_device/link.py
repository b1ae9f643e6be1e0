"""Reads the link by which somebody is invited to a round."""

import re
from dataclasses import dataclass, field
from typing import Final, Self

from hazemap_device.errors import DeviceError
from hazemap_device.fetch import is_allowed

SECRET: Final = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LINK: Final = re.compile(rf"(.{{1,500}})/contribute/#({_UUID})(?:\.({SECRET.pattern}))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Names the shuffler's address, a round, and an invitation; none where anybody may take part."""

    shuffler: str
    round: str
    secret: str | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shuffler", self.shuffler.rstrip("/"))
        is_address = re.fullmatch(_UUID, self.round, re.ASCII) and is_allowed(self.shuffler)
        if not is_address or not (self.secret is None or SECRET.fullmatch(self.secret)):
            raise DeviceError("bad_link", "This is no link of an invitation. Copy it once more, as a whole.")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads https://…/contribute/#<round>.<secret>."""
        match = _LINK.fullmatch(text.strip()) if len(text) <= 1000 else None
        if match is None:
            raise DeviceError("bad_link", "This is no link of an invitation. Copy it once more, as a whole.")
        return cls(shuffler=match[1], round=match[2], secret=match[3])

    def address(self, path: str) -> str:
        return f"{self.shuffler}/rounds/{self.round}/{path}"
