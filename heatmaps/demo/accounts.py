"""Creates an installation's first accounts, with random passwords in private files."""

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from heatmaps.models import ApiToken, Scope

STEWARD: Final = "steward"
ADMINISTRATOR: Final = "administrator"
TOKEN: Final = "demo"  # noqa: S105  # its name, not its secret


def credentials_path() -> Path:
    """Returns the file of `username=`, `password=` and `token=` of the steward, one a line."""
    return Path(settings.STATE_DIR) / "credentials"


def administrator_credentials_path() -> Path:
    """Returns the file of `username=` and `password=` of the administrator."""
    return Path(settings.STATE_DIR) / "credentials-administrator"


def ensure() -> User:
    """Returns the steward; both accounts are made, or given new secrets when their file is lost."""
    _ensure_administrator()
    return _ensure_steward()


def _ensure_administrator() -> None:
    path = administrator_credentials_path()
    if path.exists() and User.objects.filter(username=ADMINISTRATOR).exists():
        return
    password = _password()
    with transaction.atomic():
        _account(ADMINISTRATOR, password, is_staff=True, is_superuser=True)
    _write(path, {"username": ADMINISTRATOR, "password": password})


def _ensure_steward() -> User:
    path = credentials_path()
    if path.exists() and (steward := User.objects.filter(username=STEWARD).first()):
        return steward
    password = _password()
    with transaction.atomic():
        steward = _account(STEWARD, password)
        ApiToken.objects.filter(user=steward, name=TOKEN).delete()
        _, token = ApiToken.objects.create(
            user=steward, expiry=None, name=TOKEN, scopes=[scope.value for scope in Scope]
        )
    # After the commit: a file there means that what it says works.
    _write(path, {"username": STEWARD, "password": password, "token": token})
    return steward


def _account(username: str, password: str, **flags: bool) -> User:
    user, _ = User.objects.update_or_create(username=username, defaults=flags)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user


def _password() -> str:
    return secrets.token_urlsafe(15)


def _write(path: Path, lines: Mapping[str, str]) -> None:
    """Replaces a private file (mode 600) in one step."""
    draft = path.with_name(f"{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        draft.unlink()  # of a run that was killed
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.writelines(f"{name}={value}\n" for name, value in lines.items())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
