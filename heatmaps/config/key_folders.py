"""Finds the folders of secret keys, by who may have them.

| folder | keys | who has them |
| --- | --- | --- |
| `HAZEMAP_KEY_DIR` | one a dataset, one a round of a collection | web and workers |
| `HAZEMAP_WEB_KEY_DIR` | those for signing, second factors and kept files | web, and whoever migrates |

Where the second is not set both are one folder, as they are embedded. A key is made once and never replaced.
"""

import os
import secrets
import tempfile
from pathlib import Path
from typing import Final

from heatmaps import spool
from heatmaps.config import environment, private_files
from heatmaps.spool import sync_folder

NONE: Final = "none"
SIGNING: Final = "django-secret-key"
SECOND_FACTORS: Final = "second-factor-key"
KEPT_FILES: Final = "kept-files-key"  # in no list of what is moved: files are made anew without it
OF_WEB: Final = (SIGNING, SECOND_FACTORS)
MOVED: Final = "web-keys-moved"  # in the folder that they were moved from: where they are
_GONE: Final = (
    "web's keys were moved from {keys} to {folder}: set HAZEMAP_WEB_KEY_DIR to that folder, or to none for "
    "workers and clock. New keys would lock out everybody who has a second factor"
)
_TWO_KEYS: Final = (
    "there are two different keys {name}, and nothing was changed: {old} and {new}. Put the one that the "
    "data were made with in the second place (after a restore that of the backup, else the older one) and "
    "move the other one away"
)


def key_dir(state: Path) -> Path:
    """Returns the folder of keys, of mode 700; they are of mode 600. Errors: as `private_files.folder`."""
    return _private(Path(os.environ.get("HAZEMAP_KEY_DIR") or state / "keys").absolute())


def web_key_dir(keys: Path) -> Path | None:
    """Returns the folder of web's keys; None in a process that has none.

    Those that lie in `keys`, where they were until web had a folder of its own, are moved there.
    Errors: as `private_files.folder`; RuntimeError where both folders have a key, and another one, and where
    keys that were moved are looked for in `keys`.
    """
    name = os.environ.get("HAZEMAP_WEB_KEY_DIR", "").strip()
    if name == NONE:
        return None
    folder = keys if not name else _private(Path(name).absolute())
    present = [key for key in OF_WEB if _is_key(keys / key)]
    if not folder.samefile(keys):
        if present:
            _note(keys / MOVED, f"{folder}\n")
        for key in present:
            _move(keys / key, folder / key)
    elif len(present) < len(OF_WEB) and (keys / MOVED).exists():
        raise RuntimeError(_GONE.format(keys=keys, folder=spool.key_text(keys / MOVED).strip()))
    return folder


def signing_key(folder: Path | None) -> str:
    """Returns Django's signing key; without the folder a new one, which signs nothing that web takes."""
    return secrets.token_urlsafe(64) if folder is None else environment.secret_key(folder, SIGNING)


def second_factor_key(folder: Path | None) -> str:
    """Returns the key that encrypts secrets of second factors; empty without the folder."""
    return "" if folder is None else environment.secret_key(folder, SECOND_FACTORS)


def kept_files_key(folder: Path | None) -> str:
    """Returns the key that seals files web keeps; without the folder a new one, which web does not take."""
    return secrets.token_urlsafe(64) if folder is None else environment.secret_key(folder, KEPT_FILES)


def _private(path: Path) -> Path:
    folder = private_files.folder(path)
    private_files.tighten(*folder.iterdir())
    return folder


def _is_key(path: Path) -> bool:
    """Tells whether it is a key of web's.

    Workers write into the first folder: a link there, or a pipe, is none.
    """
    return path.is_file() and not path.is_symlink()


def _note(path: Path, text: str) -> None:
    """Puts a text in the place of whatever has this name, and into nothing that it points to."""
    with tempfile.NamedTemporaryFile("w", prefix=f"{path.name}-", dir=path.parent, delete=False) as file:
        file.write(text)
    Path(file.name).replace(path)


def _move(old: Path, new: Path) -> None:
    """Moves a key between file systems: it is on the other disk before it goes from here.

    May end anywhere and be done again, also by two at once.
    """
    try:
        key = environment.written_key(old)
    except FileNotFoundError:
        return
    with tempfile.NamedTemporaryFile("w", prefix=f"{new.name}-", dir=new.parent) as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
        try:
            os.link(file.name, new)
        except FileExistsError:
            if environment.written_key(new) != key:
                raise RuntimeError(_TWO_KEYS.format(name=new.name, old=old, new=new)) from None
    sync_folder(new.parent)
    old.unlink(missing_ok=True)
