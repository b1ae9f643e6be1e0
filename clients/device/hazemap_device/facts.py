"""Reads what a round is: one public text that both roles serve, checked before anything is drawn."""

import base64
import binascii
import hashlib
import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from hazemap_device.encodings import Encoding, encoding_of
from hazemap_device.fetch import is_allowed
from hazemap_device.places import Region
from hazemap_device.sealing import packet_bytes
from hazemap_device.strict_json import Fields, exact, parsed, refuse

MOST_BYTES: Final = 1 << 18
MOST_MESSAGES: Final = 1 << 16
MOST_TABLE_BYTES: Final = 1 << 26
_LATEST: Final = 253_402_300_799  # seconds since 1970, at the end of the year 9999
_DEGREES: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e-?[0-9]{1,3})?", re.ASCII)
_SLUG: Final = re.compile(r"[a-zA-Z0-9_-]{1,200}", re.ASCII)
_SHA384_TEXT: Final = re.compile(r"|[A-Za-z0-9+/]{64}", re.ASCII)
_KEYS: Final = """kind version round collection number title question region mechanism trust encoding
    table_sha256 messages message_bytes reports_per_person invitations invitations_sha256 open_link
    least_honest dishonest_share least_reports opens_at closes_at analyser shuffler loss loss_alone
    page_sha384"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """Describes one of the two servers: who runs it, where it is, what is sealed to it."""

    operator: str
    url: str
    key: bytes

    @classmethod
    def read(cls, values: object, of: str) -> Self:
        fields = Fields(values, "operator url key", of=of)
        url = fields.text("url", longest=500).rstrip("/")
        if not is_allowed(url):
            refuse(f"{of}: url")
        return cls(operator=fields.text("operator"), url=url, key=_key(fields.text("key"), of))

    def is_same_as(self, other: "Role") -> bool:
        """Returns whether one operator is declared for both."""
        return self.operator.casefold() == other.operator.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Holds what one report costs, as exact texts; "inf" where there is no bound."""

    epsilon: str
    delta: str
    radius_m: str
    record_epsilon: str

    @classmethod
    def read(cls, values: object, of: str) -> Self:
        fields = Fields(values, "epsilon delta radius_m record_epsilon", of=of)
        texts = {name: fields.text(name, longest=4001) for name in cls.__slots__}
        for name, text in texts.items():
            if text != "inf" and exact(text) is None:
                refuse(f"{of}: {name}")
        for name in ("delta", "radius_m"):
            if texts[name] == "inf":
                refuse(f"{of}: {name}")
        return cls(**texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Holds a round as both roles state it. All of it is public."""

    content: bytes = field(repr=False)  # the bytes as served
    round: str
    collection: str
    number: int
    title: str
    question: str
    region: Region
    mechanism: str
    trust: str
    encoding: Encoding
    table_sha256: str
    messages: int
    message_bytes: int
    reports_per_person: int
    invitations: int
    open_link: bool
    least_reports: int
    opens_at: int
    closes_at: int
    analyser: Role
    shuffler: Role
    loss: Loss
    loss_alone: Loss  # where shuffler and analyser work together

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Reads the facts.

        Errors: `DeviceError` with the code `bad_facts` for any other text, floats, unknown versions, equal
        keys, or a report that is too large.
        """
        fields = Fields(parsed(content, most_bytes=MOST_BYTES), _KEYS, of="facts")
        if fields.text("kind") != "hazemap round" or fields.whole("version", 1) != 1:
            refuse("version")
        _check_persons(fields)
        encoding = encoding_of(fields.raw("encoding"))
        messages = fields.whole("messages", 1, MOST_MESSAGES)
        message_bytes = fields.whole("message_bytes", 1, 64)
        if (messages, message_bytes) != (encoding.messages, encoding.message_bytes):
            refuse("messages")
        if encoding.table_bytes > MOST_TABLE_BYTES:
            refuse("table")
        opens_at = fields.whole("opens_at", 0, _LATEST)
        analyser = Role.read(fields.raw("analyser"), "analyser")
        shuffler = Role.read(fields.raw("shuffler"), "shuffler")
        if analyser.key == shuffler.key:
            # One party with one key reads packets and messages.
            refuse("keys")
        loss, alone = (Loss.read(fields.raw(name), name) for name in ("loss", "loss_alone"))
        open_link = fields.true_or_false("open_link")
        # No shuffler stands apart: a device blurs by itself, anybody makes the crowd, or one party does all.
        is_alone = encoding.is_local or open_link or analyser.is_same_as(shuffler)
        if alone.radius_m != loss.radius_m or (is_alone and alone != loss):
            refuse("loss_alone")
        if not _SHA384_TEXT.fullmatch(fields.text("page_sha384")):
            refuse("page_sha384")
        return cls(
            content=content,
            round=_uuid(fields.text("round")),
            collection=_matching(_SLUG, fields.text("collection"), "collection"),
            number=fields.whole("number", 1),
            title=fields.text("title", longest=1000),
            question=fields.text("question", longest=10_000),
            region=_region(fields.texts("region", 4)),
            mechanism=_matching(_SLUG, fields.text("mechanism"), "mechanism"),
            trust=_trust(fields.text("trust"), encoding),
            encoding=encoding,
            table_sha256=fields.sha256("table_sha256"),
            messages=messages,
            message_bytes=message_bytes,
            reports_per_person=fields.whole("reports_per_person", 1, 10**6),
            invitations=fields.whole("invitations", 0),
            open_link=open_link,
            least_reports=fields.whole("least_reports", 1),
            opens_at=opens_at,
            closes_at=fields.whole("closes_at", opens_at + 1, _LATEST),
            analyser=analyser,
            shuffler=shuffler,
            loss=loss,
            loss_alone=alone,
        )

    @property
    def sha256(self) -> bytes:
        return hashlib.sha256(self.content).digest()

    @property
    def packet_bytes(self) -> int:
        return packet_bytes(self.messages, self.message_bytes)


def _check_persons(fields: Fields) -> None:
    fields.sha256("invitations_sha256")
    dishonest = exact(fields.text("dishonest_share"))
    if dishonest is None or dishonest >= 1:
        refuse("dishonest_share")
    needed = math.ceil(fields.whole("least_honest", 1) / (1 - Fraction(dishonest)))
    if fields.whole("least_reports", 1) != needed:
        refuse("least_reports")


def _trust(text: str, encoding: Encoding) -> str:
    # Nobody has to be trusted where the device checks what it promises; where it cannot, the facts say so.
    return text if text == ("local" if encoding.is_local else "shuffle") else refuse("trust")


def _region(texts: tuple[str, ...]) -> Region:
    west, south, east, north = (float(_matching(_DEGREES, text, "region")) for text in texts)
    return Region(west=west, south=south, east=east, north=north)


def _key(text: str, of: str) -> bytes:
    try:
        key = base64.b64decode(text + "=", altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != 32 or base64.urlsafe_b64encode(key).decode().rstrip("=") != text:
        refuse(f"{of}: key")
    try:
        # A point of small order makes no secret with anybody's key.
        X25519PrivateKey.generate().exchange(X25519PublicKey.from_public_bytes(key))
    except ValueError:
        refuse(f"{of}: key")
    return key


def _uuid(text: str) -> str:
    try:
        same = str(UUID(text)) == text
    except ValueError:
        same = False
    return text if same else refuse("round")


def _matching(pattern: re.Pattern[str], text: str, name: str) -> str:
    return text if pattern.fullmatch(text) else refuse(name)
