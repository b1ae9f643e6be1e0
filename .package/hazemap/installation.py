"""Makes the product's own packages importable, and says where an installed product keeps its state."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

APP: Final = Path(__file__).resolve().with_name("app")


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """Settings, the variable that names the state folder, and that folder's name where it is not set."""

    settings: str
    variable: str
    folder: str


PRODUCT: Final = Role(settings="heatmaps.config.settings", variable="HAZEMAP_STATE", folder="hazemap")
# Nothing of the analyser's settings, keys and database is read.
SHUFFLER: Final = Role(
    settings="heatmaps.shuffler.settings", variable="HAZEMAP_SHUFFLER_STATE", folder="hazemap-shuffler"
)


def prepare(role: Role = PRODUCT) -> None:
    """Put the product's packages before all others, and name a role's settings and state folder.

    Call it before anything of the product is imported. Errors: RuntimeError where no folder can be named.
    """
    if str(APP) not in sys.path:
        sys.path.insert(0, str(APP))
    os.environ["DJANGO_SETTINGS_MODULE"] = role.settings  # another project's may be in the shell
    os.environ.pop("PYTHONSAFEPATH", None)  # processes of ours are scripts beside their packages
    if not os.environ.get(role.variable):
        os.environ[role.variable] = str(data_home() / role.folder)


def data_home() -> Path:
    """Where programs keep data of this account, as the XDG base directories say.

    Errors: RuntimeError where the account has no home folder.
    """
    told = Path(os.environ.get("XDG_DATA_HOME", ""))
    if told.is_absolute():  # a relative one is to be ignored
        return told
    return Path.home() / ".local" / "share"
