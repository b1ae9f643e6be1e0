"""Names the files of a round: its key, its secrets until they are handed out, its table, its packets."""

import json
from pathlib import Path
from typing import Final
from uuid import UUID

from heatmaps.shuffler import files, settings

KEY: Final = "key"
SECRETS: Final = "secrets"
TABLE: Final = "table.bin"
LINK: Final = "link"  # key of an open link's invitations, until the round closes
PACKETS: Final = "packets"

Secrets = list[tuple[str, str]]  # name of a person, secret


def folder(round_id: UUID) -> Path:
    return settings.ROUNDS_DIR / str(round_id)


def table(round_id: UUID) -> Path:
    return folder(round_id) / TABLE


def write_key(round_id: UUID, private_key: bytes) -> None:
    files.write(folder(round_id) / KEY, private_key)


def read_key(round_id: UUID) -> bytes:
    """Reads the round's private key. Errors: OSError."""
    return (folder(round_id) / KEY).read_bytes()


def write_table(round_id: UUID, content: bytes) -> None:
    files.write(table(round_id), content)


def write_secrets(round_id: UUID, secrets: Secrets) -> None:
    files.write(folder(round_id) / SECRETS, json.dumps(secrets).encode())


def read_secrets(round_id: UUID) -> Secrets | None:
    """Reads names and secrets; None once they were handed out, or the round is over."""
    try:
        content = (folder(round_id) / SECRETS).read_bytes()
    except FileNotFoundError:
        return None
    return [(name, secret) for name, secret in json.loads(content)]


def write_link_key(round_id: UUID, key: bytes) -> None:
    files.write(folder(round_id) / LINK, key)


def read_link_key(round_id: UUID) -> bytes | None:
    """Reads the key of a round's link; None once the round is closed."""
    try:
        return (folder(round_id) / LINK).read_bytes()
    except FileNotFoundError:
        return None


def destroy_secrets(round_id: UUID) -> None:
    files.destroy(folder(round_id) / SECRETS)


def destroy_link_key(round_id: UUID) -> None:
    files.destroy(folder(round_id) / LINK)


def destroy_all(round_id: UUID) -> None:
    files.destroy_folder(folder(round_id), first=KEY)
