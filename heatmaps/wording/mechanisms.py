"""Names mechanisms for people."""

from mechanisms.catalogue import registry
from mechanisms.check import ParameterError


def mechanism_title(name: str) -> str:
    """The catalogue's title; of a mechanism that is gone its name."""
    try:
        return registry.get(name).title
    except ParameterError:
        return name
