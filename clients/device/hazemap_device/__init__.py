"""Blurs places on the device and reports them to a Hazemap collection."""

from hazemap_device.errors import DeviceError
from hazemap_device.places import Place

__all__ = ["DeviceError", "Place"]
