"""A child that a file took over: it sleeps, says that it read more than there is, or talks for ever.

Which of them the rows of a batch say, as a request has no room for more.
"""

import json
import os
import struct
import sys
import time

SLEEPS, SAYS_TOO_MUCH = 1, 2


def main():
    rows = json.loads(sys.stdin.buffer.readline())["batch_rows"]
    if rows == SLEEPS:
        time.sleep(600)
    bytes_read = 99 if rows == SAYS_TOO_MUCH else 0
    text = json.dumps({"rejected": [], "bytes_read": bytes_read}).encode()
    while True:
        os.write(1, struct.pack("<cIQIQ", b"B", 0, len(text), 0, 0) + text)
