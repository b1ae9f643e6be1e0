"""What the environment decides: every variable Hazemap reads, with its default, in one place.

| variable | default | meaning |
| --- | --- | --- |
| `HAZEMAP_STATE` | `.local` | folder of the embedded database, keys, uploads in flight and credentials |
| `HAZEMAP_KEY_DIR` | `$HAZEMAP_STATE/keys` | folder of the secret keys (files of mode 600) |
| `HAZEMAP_DATABASE_URL` | SQLite in `$HAZEMAP_STATE` | `postgresql://user:password@host/name` deployed |
| `HAZEMAP_DATABASE_PASSWORD_FILE` | (none) | file with the password that belongs into that address |
| `HAZEMAP_BROKER_URL` | `memory://` | `redis://host:port/0` for workers of their own |
| `HAZEMAP_BROKER_PASSWORD_FILE` | (none) | file with the password that belongs into that address |
| `HAZEMAP_ALLOWED_HOSTS` | `127.0.0.1,localhost,[::1]` | names this server answers to, separated by commas |
| `HAZEMAP_ORIGINS` | (none) | origin of a proxy (`https://…`): secure cookies, its X-Forwarded-* counts |
| `HAZEMAP_LOG_FORMAT` | `text` | log lines for a terminal, or `json` for what collects logs |
| `HAZEMAP_DEBUG` | `0` | `1` shows tracebacks to anybody: never where data are real |
| `HAZEMAP_MAX_EPSILON` | `20` | largest ε of one release |
| `HAZEMAP_MAX_UPLOAD_BYTES` | `2147483648` | largest uploaded file, in bytes |
| `HAZEMAP_ROWS_PER_SHARD` | `5000000` | check-ins a worker reads at once for a release; more are shared out |
"""

import os
import secrets
from pathlib import Path
from urllib.parse import quote, urlsplit

MOST_ROWS_PER_SHARD = 20_000_000  # what is read at once fits PostgreSQL's largest value, 1 GB, three times


def state_dir() -> Path:
    """The folder that holds everything an embedded installation keeps; made with mode 700."""
    return _private_folder(Path(os.environ.get("HAZEMAP_STATE", ".local")).absolute())


def key_dir(state: Path) -> Path:
    """The folder of secret keys; made with mode 700."""
    return _private_folder(Path(os.environ.get("HAZEMAP_KEY_DIR", state / "keys")).absolute())


def secret_key(folder: Path) -> str:
    """Django's signing key: read from `folder`, made once with mode 600 when missing."""
    path = folder / "django-secret-key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_when_written(path)
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_urlsafe(64)
        file.write(key)
    return key


def service_url(service: str) -> str:
    """`HAZEMAP_<service>_URL`, with the password of `HAZEMAP_<service>_PASSWORD_FILE`; "" when not set.

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


def listed(name: str, default: str = "") -> list[str]:
    """A comma-separated variable as a list without blanks."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def rows_per_shard() -> int:
    """Errors: RuntimeError naming the variable."""
    text = os.environ.get("HAZEMAP_ROWS_PER_SHARD", "5000000")
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ROWS_PER_SHARD:
        raise RuntimeError(
            f"HAZEMAP_ROWS_PER_SHARD must be a whole number from 1 to {MOST_ROWS_PER_SHARD}, not {text!r}"
        )
    return int(text)


def _private_folder(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _read_when_written(path: Path) -> str:
    # Another process may be between creating the file and writing it.
    for _ in range(1000):
        if key := path.read_text():
            return key
        os.sched_yield()
    raise RuntimeError(f"the signing key file {path.name} is empty; delete it and start again")
