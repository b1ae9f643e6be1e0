"""A child that was taken over: it answers a question with what would run in whoever unpickled it."""

import pickle
import struct
import sys

CODE = "import os; os.environ['HAZEMAP_TAKEN_OVER'] = 'yes'"


class Taken:
    def __reduce__(self):
        return exec, (CODE,)


def main():
    sys.stdin.buffer.read(1)  # of a question
    content = pickle.dumps(Taken())
    sys.stdout.buffer.write(struct.pack("<Q", len(content)) + content)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()
