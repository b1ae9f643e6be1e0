"""A child that tells what it was given, and takes what it is told to."""

import json
import os
import resource
import sys
from contextlib import suppress


def main():
    wish = json.loads(sys.stdin.buffer.readline())
    if wish == "memory":
        bytearray(2**30)
    while wish == "time":
        pass
    told = {
        "environment": dict(os.environ),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "memory": resource.getrlimit(resource.RLIMIT_DATA)[0],
        "descriptors": [number for number in range(1024) if is_open(number)],
    }
    sys.stdout.write(json.dumps(told))


def is_open(number):
    with suppress(OSError):
        os.fstat(number)
        return True
    return False
