"""Renders one large file in a child: a job and a stored result in, the file out."""

import errno
import json
import os
import sys
from typing import Final

import django
from django.conf import settings

from heatmaps.exports.job import Job

TOO_LARGE: Final = 27  # how it ends where the file would be larger than files may be


def main() -> None:
    """Makes a file, in a child.

    Input: a line with the descriptor and Django's settings, a line with the job, the result's bytes.
    """
    line = json.loads(sys.stdin.buffer.readline())
    settings.configure(**line["settings"])
    django.setup()
    job = Job.from_json(sys.stdin.buffer.readline().decode())
    try:
        with os.fdopen(line["descriptor"], "wb") as stream:
            job.write(sys.stdin.buffer.read(), stream)
    except OSError as error:
        if error.errno == errno.EFBIG:
            sys.exit(TOO_LARGE)
        raise
