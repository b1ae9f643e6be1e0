"""WSGI entry point of the installed product, for a server other than `hazemap serve`."""

from hazemap.installation import prepare

prepare()

from heatmaps.config.wsgi import application  # noqa: E402 - importable only now

__all__ = ["application"]
