"""The product's settings with short leases, a sweep every second, and all that anybody logs at DEBUG."""

import logging

from tests.services.hurried import *  # noqa: F403

LOGGING = {  # the product's own formatter decides what is told
    **LOGGING,  # noqa: F405
    "root": {**LOGGING["root"], "level": "DEBUG"},  # noqa: F405
    "loggers": {name: {**each, "level": "DEBUG"} for name, each in LOGGING["loggers"].items()},  # noqa: F405
}
logging.getLogger().setLevel(logging.DEBUG)
