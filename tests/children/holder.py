"""A server that holds secrets and hands a file to a child, which turns out to be taken over.

Input: a line of JSON. Output: what the child says, as JSON.
"""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile

from tests.children import calls

# As on a kernel from before 5.13, or under a container's profile that refuses it.
WITHOUT_LANDLOCK = """
from heatmaps.children import landlock
landlock.version = lambda: 0
from heatmaps.children.confinement import confine
confine("tests.children.intruder")
from tests.children import intruder
intruder.main()
"""
SECRET = "a password that nobody may read"


def main():
    given = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.environ["HAZEMAP_STATE"] = given["state"]
    settings = loaded_settings()
    from heatmaps.children import process

    state = settings.STATE_DIR
    with tempfile.TemporaryFile() as sent, socket.create_server(("127.0.0.1", 0)) as tcp:
        sent.write(b"7,41.5,2.5\n")
        sent.flush()
        sent.seek(0)
        named, nameless = listening(str(state / "socket")), listening("\0hazemap")
        there = {
            "descriptor": sent.fileno(),
            "files": files(state, settings.KEY_DIR),
            "folders": [str(state), str(state / "rendered"), str(settings.KEY_DIR)],
            "tcp": [list(tcp.getsockname()), *given["tcp"]],
            "unix": [named.getsockname(), nameless.getsockname().decode()],
            "calls": calls.of_x86_64(os.getpid()) if platform.machine() == "x86_64" else [],
        }
        limits = process.Limits(memory_bytes=2**28, cpu_seconds=20)
        if given["landlock"]:
            child = process.started("tests.children.intruder", limits, files=[sent.fileno()])
        else:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "pass_fds": [sent.fileno()]}
            child = subprocess.Popen([sys.executable, "-c", WITHOUT_LANDLOCK], **pipes)
        out, _ = child.communicate(json.dumps(there).encode() + b"\n")
    sys.stdout.write(json.dumps({"status": child.returncode, **json.loads(out or "{}")}))


def loaded_settings():
    """Of the product, as every server loads them."""
    from heatmaps.config import settings

    return settings


def files(state, keys):
    """A file of each kind that is secret, or that others believe."""
    rendered = state / "rendered"
    rendered.mkdir(exist_ok=True)
    for path in (state / "hazemap.sqlite3", state / "password", rendered / "first", keys / "dataset-7"):
        path.write_text(SECRET)
    (state / "first").write_text("")
    (keys / "first").write_text("")
    return [
        str(path) for folder in (state, rendered, keys) for path in sorted(folder.iterdir()) if path.is_file()
    ]


def listening(address):
    line = socket.socket(socket.AF_UNIX)
    line.bind(address)
    line.listen()
    return line


if __name__ == "__main__":
    main()
