"""The product's settings with leases of a second, and a sweep every second."""

from tests.services.quick import *  # noqa: F403

LEASE_SECONDS = 1
