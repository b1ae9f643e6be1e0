"""The product's settings with a sweep every second, for parts that are missing after seconds."""

from tests.services.quick import *  # noqa: F403

SILENCE_SECONDS = 3.0
