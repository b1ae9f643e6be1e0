"""A process that guesses the passwords of a name.

python -m tests.services.guess NAME TIMES: how many seconds it would have to wait after each attempt.
"""

import json
import sys

import django

django.setup()

from heatmaps.http import attempt_limits  # noqa: E402


def main(name, times):
    limits = {"most": 10, "seconds": 60}
    waits = [
        attempt_limits.seconds_to_wait(attempt_limits.SIGN_IN_NAME, name, **limits) for _ in range(int(times))
    ]
    print(json.dumps(waits))


if __name__ == "__main__":
    main(*sys.argv[1:])
