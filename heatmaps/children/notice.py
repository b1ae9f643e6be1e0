"""Says at a server's start where its system confines children less than it should."""

from typing import Final

import structlog

from heatmaps.children import confinement

_log: Final = structlog.stdlib.get_logger(__name__)


def warn() -> None:
    """Logs what this system does not offer; nothing where it offers all."""
    if lacking := confinement.missing():
        _log.warning("children.not_confined", lacking=", ".join(lacking))
