"""Makes the product's own packages importable, and says where an installed product keeps its state."""

import os
import sys
from pathlib import Path
from typing import Final

APP: Final = Path(__file__).resolve().with_name("app")


def prepare(settings: str = "heatmaps.config.settings", *, state: str = "HAZEMAP_STATE", name: str = "hazemap") -> None:
    """Put the product's packages before all others, and name its settings and its state folder.

    state: the variable that names the folder; name: the folder's own, where the variable is not set.
    Call it before anything of the product is imported. Errors: RuntimeError where no folder can be named.
    """
    if str(APP) not in sys.path:
        sys.path.insert(0, str(APP))
    os.environ["DJANGO_SETTINGS_MODULE"] = settings  # another project's may be in the shell
    os.environ.pop("PYTHONSAFEPATH", None)  # processes of ours are scripts beside their packages
    os.environ.setdefault(state, str(data_home() / name))


def data_home() -> Path:
    """Where programs keep data of this account, as the XDG base directories say.

    Errors: RuntimeError where the account has no home folder.
    """
    told = Path(os.environ.get("XDG_DATA_HOME", ""))
    if told.is_absolute():  # a relative one is to be ignored
        return told
    return Path.home() / ".local" / "share"
