"""Reads how a round's places become messages: one file a kind."""

from typing import Final

from hazemap_device.encodings.axes import Axes
from hazemap_device.encodings.encoding import Encoding
from hazemap_device.encodings.flips import Flips
from hazemap_device.encodings.gkrr import Gkrr
from hazemap_device.encodings.items import Items
from hazemap_device.encodings.offsets import Offsets
from hazemap_device.encodings.rows import Rows
from hazemap_device.encodings.shares import Shares
from hazemap_device.encodings.unary import Unary
from hazemap_device.strict_json import refuse

__all__ = ["KINDS", "Encoding", "encoding_of"]

KINDS: Final[dict[str, type[Encoding]]] = {
    kind.kind: kind for kind in (Axes, Flips, Gkrr, Items, Offsets, Rows, Shares, Unary)
}


def encoding_of(values: object) -> Encoding:
    """Reads an encoding.

    Errors: `DeviceError` for a kind that is not known, and for fields that do not fit together.
    """
    kind = values.get("kind") if isinstance(values, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        refuse("encoding: kind")
    return KINDS[kind].read(values)
