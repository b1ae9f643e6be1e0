"""Uses an installed product as a person would, without a network: run by the environment's own Python.

`python installed.py FOLDER`; FOLDER takes state and files. Only the standard library is used. It prints what
it found, as JSON.
"""

import csv
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

PROGRAMS = Path(sys.prefix) / "bin"
SLUG = "demo-city"
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


def main(folder):
    if os.environ.get("WITHOUT_NETWORK"):
        raise_loopback()
    told = {
        "version": run("hazemap", "--version"),
        "foreign": run("python", "-c", "import api, heatmaps; print(api.WHOSE, heatmaps.WHOSE)").split(),
        "offline": offline(folder),
    }
    print(json.dumps(told | served(folder)))


def raise_loopback():
    """A namespace of its own begins with its loopback device down."""
    with socket.socket() as any_socket:
        name = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _GET_FLAGS, name))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def run(program, *arguments):
    done = subprocess.run([PROGRAMS / program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def offline(folder):
    """Bytes of the map that the command makes of a small file."""
    places, output = folder / "places.csv", folder / "map.npy"
    with places.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user", "time", "lat", "lon"])
        writer.writerows([f"u{n}", "", 30 + n % 10 / 10, -98 + n % 7 / 10] for n in range(500))
    asked = ["--bbox=-98.3,29.8,-97.3,31.0", "--mechanism", "laplace", "--epsilon", "1", "--resolution", "16"]
    run("hazemap", "heatmap", str(places), *asked, "--output", str(output))
    return output.stat().st_size


def served(folder):
    """What a server with the demo says, from its start to its end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    output = folder / "output"
    command = [PROGRAMS / "hazemap", "serve", "--demo", "--port", str(port)]
    with output.open("wb") as file:
        server = subprocess.Popen(command, stdout=file, stderr=file, cwd=folder)
    try:
        ask = Asker(f"http://127.0.0.1:{port}", server, output)
        found = {"health": ask.until(lambda: ask("/healthz")), **used(ask, folder)}
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(60)
    return found | {"code": code, "output": output.read_text()}


def used(ask, folder):
    """One map, released and fetched."""
    credentials = folder / "data" / "hazemap" / "credentials"
    told = dict(line.split("=", 1) for line in credentials.read_text().splitlines())
    ask.token = told["token"]
    body = {"mechanism": "laplace", "epsilon": "0.5", "resolution": 32}
    release = json.loads(ask(f"/api/v1/datasets/{SLUG}/releases/", body))
    address = f"/api/v1/releases/{release['id']}/"
    ask.until(lambda: json.loads(ask(address))["state"] == "published")
    return {
        "state": str(credentials.parent),
        "picture": ask(f"{address}heatmap.png")[:8].hex(),
        "style": len(ask("/static/hazemap/hazemap.css")),
        "map": len(ask("/scripts/released_map.js")),
        "streets": len(ask("/static/protomaps-leaflet.js")),
        "sealing": len(ask("/static/hpke/core/mod.js")),
    }


class Asker:
    """Asks the server, as the holder of a token once there is one."""

    def __init__(self, address, server, output):
        self._address, self._server, self._output, self.token = address, server, output, ""

    def __call__(self, path, body=None):
        headers = {"Content-Type": "application/json", "Idempotency-Key": "once"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, content, headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            content = answer.read()
        return content.decode() if path == "/healthz" else content

    def until(self, found, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._server.poll() is None:
            try:
                if value := found():
                    return value
            except urllib.error.HTTPError as error:
                if error.code != 503:
                    raise
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError(self._output.read_text()[-3000:])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
