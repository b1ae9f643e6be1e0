"""Reads the environment variables of Hazemap, with their defaults; beside it `streets.py` those of
streets, `sign_in_provider.py` those of the provider and `mail.py` those of mails.

| variable | default | meaning |
| --- | --- | --- |
| `HAZEMAP_STATE` | `.local` | folder (mode 700) of database, keys, uploads in flight and credentials |
| `HAZEMAP_KEY_DIR` | `$HAZEMAP_STATE/keys` | folder of the keys of datasets and rounds (files of mode 600) |
| `HAZEMAP_WEB_KEY_DIR` | `$HAZEMAP_KEY_DIR` | folder of web's own keys; `none` for workers and clock |
| `HAZEMAP_UPLOAD_DIR` | `$HAZEMAP_STATE/uploads` | uploads in flight: web writes, workers need only read |
| `HAZEMAP_REJECTED_DIR` | `$HAZEMAP_STATE/rejected` | lists of rejected rows: workers write, web reads |
| `HAZEMAP_RECORD_DIR` | `~/.local/state/hazemap/record` | folder that says what was drawn; in no backup |
| `HAZEMAP_WITNESS` | (none) | a folder on another machine that holds the same, and sees this one go back |
| `HAZEMAP_CONTAINER` | `0` | `1` in a container: the record must be on a volume |
| `HAZEMAP_DATABASE_URL` | SQLite in `$HAZEMAP_STATE` | `postgresql://role:password@host/name` deployed |
| `HAZEMAP_DATABASE_PASSWORD_FILE` | (none) | file with the password that belongs into that address |
| `HAZEMAP_WEB_PASSWORD_FILE` | (none) | file with the password that `grant-roles` gives `hazemap_web` |
| `HAZEMAP_WORKER_PASSWORD_FILE` | (none) | the same for `hazemap_worker` |
| `HAZEMAP_CLOCK_PASSWORD_FILE` | (none) | the same for `hazemap_clock` |
| `HAZEMAP_BROKER_URL` | `memory://` | `redis://user@host:port/0` for workers of their own |
| `HAZEMAP_BROKER_PASSWORD_FILE` | (none) | file with the password that belongs into that address |
| `HAZEMAP_HEARTBEAT_FILE` | (none) | a file that a worker touches while it takes tasks |
| `HAZEMAP_ALLOWED_HOSTS` | `127.0.0.1,localhost,[::1]` | names of pages and metrics, separated by commas |
| `HAZEMAP_ORIGINS` | (none) | origin at which browsers find this server; `https://…` needs HAZEMAP_PROXY |
| `HAZEMAP_PROXY` | (none) | addresses or networks of the proxy, alone believed; `none` with `--certificate` |
| `HAZEMAP_HSTS_SUBDOMAINS` | `0` | `1` where every name below the origin's speaks `https` too |
| `HAZEMAP_BASEMAP` | (none) | a PMTiles file of streets, shown under every map and served to everybody |
| `HAZEMAP_TILES` | (none) | street tiles `https://host/{z}/{x}/{y}.png`: that host sees who looks where |
| `HAZEMAP_TILES_ATTRIBUTION` | `Street tiles: ` and the host | whom a map names for those tiles |
| `HAZEMAP_TILES_PUBLIC` | `0` | `1` shows those tiles on maps that need no account, too |
| `HAZEMAP_METRICS` | (none) | `HOST:PORT` at which monitors are answered; a port alone is of this machine |
| `HAZEMAP_OIDC_ISSUER` | (none) | an OpenID Connect provider that people may sign in with |
| `HAZEMAP_OIDC_CLIENT_ID` | (none) | what that provider calls this server |
| `HAZEMAP_OIDC_CLIENT_SECRET` | (none) | the secret that the provider gave |
| `HAZEMAP_OIDC_CLIENT_SECRET_FILE` | (none) | or a file with it |
| `HAZEMAP_OIDC_NAME` | the issuer's host | what its buttons say, up to 40 characters |
| `HAZEMAP_OIDC_SIGN_UP` | `0` | `1` lets everybody whom it knows make an account without an invitation |
| `HAZEMAP_OIDC_HOSTS` | (none) | other hosts that it uses, separated by commas |
| `HAZEMAP_MAIL_HOST` | (none) | the server that takes mails, if any are to be sent; needs HAZEMAP_ORIGINS |
| `HAZEMAP_MAIL_PORT` | `587`, `465` or `25` | its port; the default follows HAZEMAP_MAIL_TLS |
| `HAZEMAP_MAIL_TLS` | `starttls` | `tls` from the first byte on, or `none`: passwords in clear |
| `HAZEMAP_MAIL_USER` | (none) | the name to sign in there |
| `HAZEMAP_MAIL_PASSWORD` | (none) | its password |
| `HAZEMAP_MAIL_PASSWORD_FILE` | (none) | or a file with it |
| `HAZEMAP_MAIL_FROM` | (none) | whom mails are from, such as `Hazemap <maps@example.org>` |
| `HAZEMAP_LOG_FORMAT` | `text` | log lines for a terminal, or `json` for what collects logs |
| `HAZEMAP_DEBUG` | `0` | `1` shows tracebacks to anybody: never where data are real |
| `HAZEMAP_MAX_EPSILON` | `20` | largest ε of one release |
| `HAZEMAP_MAX_UPLOAD_BYTES` | `2147483648` | largest uploaded file, in bytes |
| `HAZEMAP_MAX_DISTRICT_BYTES` | `4194304` | largest district file, in bytes |
| `HAZEMAP_RENDERED_BYTES` | `4294967296` | room for files of releases kept in `$HAZEMAP_STATE`, in bytes |
| `HAZEMAP_SLOT_SECONDS` | `2,5,20,300` | seconds that a draw stays unseen, by size class of the dataset |
| `HAZEMAP_DRAW_PLACES` | `4,4,2,1` | draws that go on at once, by size class: no more than workers can do |
| `HAZEMAP_SOURCES` | (none) | TOML file of tables in an owner's lake that datasets may read |
| `HAZEMAP_SOURCE_SLOT_SECONDS` | `900` | seconds that a draw from a lake stays unseen |
| `HAZEMAP_SOURCE_PLACES` | `1` | draws from lakes that go on at once |
"""

import os
import secrets
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import quote, urlsplit

from heatmaps import spool
from heatmaps.config import private_files

NO_PROXY = "none"
LEAST_RENDERED_BYTES = 2**20  # the page of a usual map and its files
_SIZE_CLASSES = 4
_LONGEST_SLOT_SECONDS = 86_400
_MOST_PLACES = 1_000
_LAST_PORT = 65_535
_STATE_OF_THE_SYSTEM = Path("/var/lib")


def state_dir() -> Path:
    """Returns the folder that holds everything an embedded installation keeps, of mode 700.

    Its credentials are of mode 600. Errors: as `private_files.folder`.
    """
    state = private_files.folder(Path(os.environ.get("HAZEMAP_STATE", ".local")).absolute())
    private_files.tighten(*state.glob("credentials*"))
    return state


def program(root: Path) -> str:
    """Returns the command that people run: the installed one, else a checkout's script."""
    return "hazemap" if root.parts[-2:] == ("hazemap", "app") else "manage.py"


def shared_dir(name: str, usual: Path) -> Path:
    """Returns the folder that a variable names, which may be read-only here, or else the usual one.

    Errors: as `private_files.folder`; those who only read get a folder that somebody else made.
    """
    value = os.environ.get(name, "")
    if not value:
        return private_files.folder(usual)
    path = Path(value).absolute()
    return path if path.is_dir() and not os.access(path, os.W_OK) else private_files.folder(path)


def record_dir() -> Path:
    """Returns the folder of the record of draws, outside state and keys, so that no copy of these has it.

    It is made when something is first recorded. An account without a home has the system's folder.
    """
    try:
        home = Path.home() / ".local" / "state"
    except RuntimeError:
        home = _STATE_OF_THE_SYSTEM
    default = Path(os.environ.get("XDG_STATE_HOME") or home) / "hazemap" / "record"
    return Path(os.environ.get("HAZEMAP_RECORD_DIR", "") or default).absolute()


def witness_dir() -> Path | None:
    """Returns the folder of the witness. Errors: RuntimeError where there is no such folder."""
    name = os.environ.get("HAZEMAP_WITNESS", "")
    if not name:
        return None
    if not Path(name).is_dir():
        raise RuntimeError(
            f"HAZEMAP_WITNESS is {name}, which is no folder here: mount the other machine's folder"
        )
    return Path(name).absolute()


def secret_key(folder: Path, name: str) -> str:
    """Returns a key of the installation: read from `folder`, made once with mode 600 when missing."""
    path = folder / name
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return written_key(path)
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_urlsafe(64)
        file.write(key)
    return key


def written_key(path: Path) -> str:
    """Reads a key that another process may be writing. Errors: OSError, also for what is no file of its own
    and no key; RuntimeError for an empty file."""
    for _ in range(1000):
        if key := spool.key_text(path):
            return key
        os.sched_yield()
    raise RuntimeError(f"the key file {path.name} is empty; delete it and start again")


def service_url(service: str) -> str:
    """Returns `HAZEMAP_<service>_URL` with its `HAZEMAP_<service>_PASSWORD_FILE`'s password; "" if not set.

    Errors: RuntimeError naming the variable, when there is a file and no address, or a password in both.
    """
    url, file = (os.environ.get(f"HAZEMAP_{service}_{part}", "") for part in ("URL", "PASSWORD_FILE"))
    if not file:
        return url
    parts = urlsplit(url)
    if not parts.hostname or parts.password is not None:
        raise RuntimeError(
            f"HAZEMAP_{service}_PASSWORD_FILE needs an address without a password in HAZEMAP_{service}_URL"
        )
    password = quote(Path(file).read_text().strip(), safe="")
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{parts.username or ''}:{password}@{host}").geturl()


def password(role: str) -> str:
    """Returns the content of the file that `HAZEMAP_<role>_PASSWORD_FILE` names; "" when not set.

    Errors: RuntimeError naming the variable, when there is no such file or nothing in it.
    """
    file = os.environ.get(f"HAZEMAP_{role}_PASSWORD_FILE", "")
    if not file:
        return ""
    try:
        text = Path(file).read_text().strip()
    except OSError as error:
        text, reason = "", error.strerror
    else:
        reason = "it is empty"
    if not text:
        raise RuntimeError(
            f"HAZEMAP_{role}_PASSWORD_FILE is {file}, which cannot be used ({reason}): "
            "write a password into it, as docs/how-to/upgrade.md says"
        )
    return text


def listed(name: str, default: str = "") -> list[str]:
    """Returns a comma-separated variable as a list without blanks."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def trusted_proxies(origins: Sequence[str]) -> list[IPv4Network | IPv6Network]:
    """Returns the networks that the operator's proxy asks from. Errors: RuntimeError naming the variable."""
    if listed("HAZEMAP_PROXY") == [NO_PROXY]:
        return []
    try:
        networks = [ip_network(text) for text in listed("HAZEMAP_PROXY")]
    except ValueError as error:
        raise RuntimeError(f"HAZEMAP_PROXY: {error}; allowed are such as 127.0.0.1,10.1.2.0/24") from None
    if not networks and any(origin.startswith("https:") for origin in origins):
        raise RuntimeError(
            "HAZEMAP_ORIGINS says https: set HAZEMAP_PROXY to the address that the proxy before it asks from "
            "(127.0.0.1 for one on this machine), or to none where `serve` has a --certificate itself"
        )
    return networks


def metrics_address() -> tuple[str, int] | None:
    """Returns host and port for monitors; this machine alone if no host is named. Errors: RuntimeError."""
    text = os.environ.get("HAZEMAP_METRICS", "").strip()
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and 0 < int(port) <= _LAST_PORT) or "*" in host:
        raise RuntimeError(
            f"HAZEMAP_METRICS must be HOST:PORT, such as 127.0.0.1:9100, or a port from 1 to {_LAST_PORT} "
            f"for this machine alone, not {text!r}"
        )
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def rendered_bytes() -> int:
    """Returns the most bytes of rendered files. Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_RENDERED_BYTES", str(2**32))
    if not text.isdecimal() or int(text) < LEAST_RENDERED_BYTES:
        raise RuntimeError(
            f"HAZEMAP_RENDERED_BYTES must be a whole number from {LEAST_RENDERED_BYTES} on, not {text!r}"
        )
    return int(text)


def slot_seconds() -> list[float]:
    """Returns seconds of a slot, by size class. Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_SLOT_SECONDS", "2,5,20,300")
    try:
        seconds = [float(part) for part in text.split(",")]
    except ValueError:
        seconds = []
    if len(seconds) != _SIZE_CLASSES or not all(0 < number <= _LONGEST_SLOT_SECONDS for number in seconds):
        raise RuntimeError(
            f"HAZEMAP_SLOT_SECONDS must be {_SIZE_CLASSES} numbers above 0, up to {_LONGEST_SLOT_SECONDS}, "
            f"separated by commas, not {text!r}"
        )
    return seconds


def draw_places() -> list[int]:
    """Draws at once, by size class. Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_DRAW_PLACES", "4,4,2,1")
    places = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if len(places) != _SIZE_CLASSES or not all(1 <= each <= _MOST_PLACES for each in places):
        raise RuntimeError(
            f"HAZEMAP_DRAW_PLACES must be {_SIZE_CLASSES} whole numbers from 1 to {_MOST_PLACES}, "
            f"separated by commas, not {text!r}"
        )
    return places


def source_slot_seconds() -> float:
    """Returns seconds of a slot of datasets in a lake. Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_SOURCE_SLOT_SECONDS", "900")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST_SLOT_SECONDS:
        raise RuntimeError(
            f"HAZEMAP_SOURCE_SLOT_SECONDS must be a number above 0, up to {_LONGEST_SLOT_SECONDS}, "
            f"not {text!r}"
        )
    return seconds


def source_places() -> int:
    """Draws from lakes at once. Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_SOURCE_PLACES", "1").strip()
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_PLACES:
        raise RuntimeError(
            f"HAZEMAP_SOURCE_PLACES must be a whole number from 1 to {_MOST_PLACES}, not {text!r}"
        )
    return int(text)


def sources_file() -> Path | None:
    """Returns the file of sources, if one is named; whoever uses it says what is wrong with it."""
    text = os.environ.get("HAZEMAP_SOURCES", "").strip()
    return Path(text).absolute() if text else None
