"""A child that somebody's file has taken over: it tries all that it should not be able to do.

Input: a line of JSON with what there is to try. Output: by attempt the number of its error; 0: it succeeded.
"""

import ctypes
import json
import os
import signal
import socket
import sys
from contextlib import closing
from pathlib import Path

PTRACE_ATTACH = 16
NEW_FILE = os.O_WRONLY | os.O_CREAT


def main():
    there = json.loads(sys.stdin.buffer.readline())
    refusals = {name: outcome(attempt) for name, attempt in attempts(there)}
    sys.stdout.write(json.dumps({"refusals": refusals, "work": work(there["descriptor"])}))


def work(descriptor):
    """What it is there for: reads what it was handed, with what it imports only now."""
    import csv

    with os.fdopen(descriptor) as stream:
        return list(csv.reader(stream))


def outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return error.errno
    return 0


def attempts(there):
    """Yields name and function of each."""
    for path in there["files"]:
        yield f"read {path}", lambda path=path: Path(path).read_bytes()
        yield f"open {path} to write", lambda path=path: os.close(os.open(path, os.O_WRONLY))
        yield f"cut {path} off", lambda path=path: os.truncate(path, 0)
        yield f"give {path} other rights", lambda path=path: Path(path).chmod(0o644)
        yield f"give {path} away", lambda path=path: os.chown(path, os.getuid(), os.getgid())
        yield f"give {path} another time", lambda path=path: os.utime(path)
        yield f"delete {path}", lambda path=path: Path(path).unlink()
    for folder in there["folders"]:
        yield from in_a_folder(folder)
    parent = os.getppid()
    for name in ("environ", "mem", "maps", "cmdline", "fd", "task", "root"):
        yield f"parent's {name}", lambda name=name: looked_into(f"/proc/{parent}/{name}")
    yield "own descriptors", lambda: os.scandir("/proc/self/fd").close()
    handed = f"/proc/self/fd/{there['descriptor']}"
    yield "its file opened to write", lambda: os.close(os.open(handed, os.O_RDWR))
    yield "a descriptor of the parent", lambda: os.close(os.open(f"/proc/{parent}/fd/1", os.O_WRONLY))
    yield from to_processes(parent)
    for address in there["tcp"]:
        yield f"tcp {address}", lambda address=address: connected(socket.AF_INET, address)
    for path in there["unix"]:
        yield f"unix {path!r}", lambda path=path: connected(socket.AF_UNIX, path)
    yield "udp", lambda: sent_by_udp(there["tcp"][0])
    yield "tcp over IPv6", lambda: connected(socket.AF_INET6, ("::1", there["tcp"][0][1]))
    yield "listening", lambda: socket.create_server(("127.0.0.1", 0)).close()
    yield "a pair of sockets", lambda: [end.close() for end in socket.socketpair()]
    yield "netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()
    yield "another program", lambda: os.posix_spawn("/bin/true", ["true"], {})
    yield "a process", forked
    yield "another account", lambda: os.setuid(os.getuid())
    yield "names of users", lambda: Path("/etc/passwd").read_bytes()
    for name, number, arguments in there["calls"]:
        yield name, lambda number=number, arguments=arguments: call(number, *arguments)


def in_a_folder(folder):
    new, first = f"{folder}/new", f"{folder}/first"
    yield f"list {folder}", lambda: os.scandir(folder).close()
    yield f"a file in {folder}", lambda: os.close(os.open(new, NEW_FILE, 0o600))
    yield f"a nameless file in {folder}", lambda: os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    yield f"a folder in {folder}", lambda: Path(new).mkdir()
    yield f"a link in {folder}", lambda: Path(new).symlink_to("/etc/passwd")
    yield f"a second name in {folder}", lambda: Path(new).hardlink_to(first)
    yield f"a pipe in {folder}", lambda: os.mkfifo(new)
    yield f"a rename in {folder}", lambda: Path(first).rename(new)


def to_processes(parent):
    yield "the parent's end", lambda: os.kill(parent, signal.SIGTERM)
    yield "a question whether it lives", lambda: os.kill(parent, 0)
    yield "the group's end", lambda: os.killpg(0, signal.SIGCONT)
    yield "the parent's place", lambda: os.setpriority(os.PRIO_PROCESS, parent, 19)
    yield "the parent by a descriptor", lambda: os.close(os.pidfd_open(parent))
    yield "tracing the parent", lambda: traced(parent)


def looked_into(path):
    if Path(path).is_dir():
        os.scandir(path).close()
    else:
        os.close(os.open(path, os.O_RDONLY))


def connected(family, address):
    address = tuple(address) if isinstance(address, list) else address
    with closing(socket.socket(family, socket.SOCK_STREAM)) as line:
        line.connect(address)


def sent_by_udp(address):
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as line:
        line.sendto(b"x", tuple(address))


def forked():
    if os.fork() == 0:
        os._exit(0)


def traced(process):
    library = ctypes.CDLL(None, use_errno=True)
    if library.ptrace(PTRACE_ATTACH, process, None, None) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def call(number, *arguments):
    """A system call by its number; arguments are numbers, or texts for room of their own."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long  # addresses, too
    words = [
        ctypes.create_string_buffer(one.encode(), 256) if isinstance(one, str) else ctypes.c_long(one)
        for one in arguments
    ]
    if library.syscall(ctypes.c_long(number), *words) < 0:
        raise OSError(ctypes.get_errno(), "refused")
