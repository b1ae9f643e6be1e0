"""Renews the foreign images of the compose file and the Dockerfile: newest patch, by digest.

    IMAGE_REGISTRY=https://HOST[/NAMESPACE] python .docker/images.py [FOLDER]

It asks a registry by the API of OCI's distribution specification: for each image the newest tag of its
release line, the digest of what that tag names, and when it was made. Without a registry nothing is changed,
and one line says so. There is no default address: whoever runs this names whom to trust.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import Request, urlopen

FILES: Final = ("docker-compose.yml", ".docker/Dockerfile")
# How many leading numbers of a tag make its release line. Spark is that of its client in `spark.lock`.
LINES: Final = {"postgres": 1, "redis": 2, "python": 2, "spark": 3}
PLATFORM: Final = ("linux", "amd64")
TIMEOUT_SECONDS: Final = 20
MOST_BYTES: Final = 8 * 2**20  # of one answer
MOST_PAGES: Final = 100
_REFERENCE: Final = re.compile(
    r"^(?P<before>\s*(?:image:|FROM)\s+)(?P<name>[a-z]+):(?P<tag>[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?=\s|$)",
    re.MULTILINE,
)
_TAG: Final = re.compile(r"(?P<numbers>\d+(?:\.\d+)*)(?P<suffix>(?:-[\w.-]+)?)")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')
_MANIFESTS: Final = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)


class RegistryError(Exception):
    """What is wrong with an answer, in words."""


class Repository:
    """One image's tags, manifests and configurations. Errors of all methods: RegistryError, OSError."""

    def __init__(self, registry: str, name: str) -> None:
        address = urlsplit(registry.rstrip("/"))
        namespace = address.path.strip("/")
        self._scheme, self._token = address.scheme, ""
        path = f"{namespace}/{name}" if namespace else name
        self._base = f"{address.scheme}://{address.netloc}/v2/{path}/"

    def tags(self) -> list[str]:
        """All tags, page by page."""
        tags: list[str] = []
        address = urljoin(self._base, "tags/list?n=1000")
        for _ in range(MOST_PAGES):
            content, link = self._get(address)
            tags += json.loads(content)["tags"]
            following = re.match(r'<([^>]+)>;\s*rel="?next"?', link)
            if following is None:
                return tags
            address = urljoin(address, following[1])
            if not address.startswith(self._base):
                raise RegistryError("its list of tags goes on elsewhere")
        raise RegistryError("its list of tags does not end")

    def digest_and_moment(self, tag: str) -> tuple[str, datetime]:
        """The digest of what a tag names, for all platforms, and when that of `PLATFORM` was made."""
        content, _ = self._get(urljoin(self._base, f"manifests/{tag}"), accept=_MANIFESTS)
        digest, manifest = f"sha256:{hashlib.sha256(content).hexdigest()}", json.loads(content)
        if "manifests" in manifest:
            platforms = {
                (entry["platform"]["os"], entry["platform"]["architecture"]): entry["digest"]
                for entry in reversed(manifest["manifests"])
            }
            manifest = self._verified("manifests", platforms[PLATFORM])
        config = self._verified("blobs", manifest["config"]["digest"])
        return digest, datetime.fromisoformat(re.sub(r"\.\d+", "", config["created"]))

    def _verified(self, kind: str, digest: str) -> Any:
        if not _DIGEST.fullmatch(digest):
            raise RegistryError("a digest is not of SHA-256")
        content, _ = self._get(urljoin(self._base, f"{kind}/{digest}"), accept=_MANIFESTS)
        if f"sha256:{hashlib.sha256(content).hexdigest()}" != digest:
            raise RegistryError("an answer is not what its digest says")
        return json.loads(content)

    def _get(self, address: str, *, accept: str = "application/json") -> tuple[bytes, str]:
        """(content, header Link), signed in without an account where that is asked for."""
        try:
            return _fetch(address, accept, self._token)
        except HTTPError as refusal:
            challenge = refusal.headers.get("WWW-Authenticate", "")
            if refusal.code != 401 or not challenge.lower().startswith("bearer "):
                raise
        parameters = dict(_CHALLENGE.findall(challenge))
        realm = parameters.pop("realm", "")
        if urlsplit(realm).scheme != self._scheme:
            raise RegistryError("it gives its tokens by another scheme")
        query = urlencode({key: parameters[key] for key in ("service", "scope") if key in parameters})
        answer = json.loads(_fetch(f"{realm}?{query}", "application/json", "")[0])
        self._token = answer.get("token") or answer["access_token"]
        return _fetch(address, accept, self._token)


def _fetch(address: str, accept: str, token: str) -> tuple[bytes, str]:
    request = Request(address, headers={"Accept": accept})  # noqa: S310 - the scheme is looked at in `main`
    if token:
        # Not for the host that a blob's redirection leads to.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - as above
        content = answer.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise RegistryError("an answer is too large")
        return content, answer.headers.get("Link", "")


def newest(tag: str, tags: list[str], numbers_of_line: int) -> str:
    """The newest tag of the same release line and suffix. Errors: RegistryError where none is as new."""
    kept = _TAG.fullmatch(tag)
    if kept is None:
        raise RegistryError(f"{tag} is no version")
    own = _numbers(kept["numbers"])
    versions = {}
    for other in filter(None, map(_TAG.fullmatch, tags)):
        numbers = _numbers(other["numbers"])
        same_line = numbers[:numbers_of_line] == own[:numbers_of_line] and len(numbers) == len(own)
        if same_line and other["suffix"] == kept["suffix"] and numbers >= own:
            versions[numbers] = other[0]
    if not versions:
        raise RegistryError(f"no tag is as new as {tag}")
    return versions[max(versions)]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def renew(texts: dict[Path, str], registry: str, say: Callable[[str], None]) -> dict[Path, str]:
    """The files' texts with every image of `LINES` renewed. Errors: as `Repository`."""
    references = {
        (match["name"], match["tag"])
        for text in texts.values()
        for match in _REFERENCE.finditer(text)
        if match["name"] in LINES
    }
    renewed: dict[tuple[str, str], str] = {}
    for name, tag in sorted(references):
        repository = Repository(registry, name)
        latest = newest(tag, repository.tags(), LINES[name])
        digest, made = repository.digest_and_moment(latest)
        renewed[name, tag] = f"{name}:{latest}@{digest}"
        change = "is the newest" if latest == tag else f"becomes {latest}"
        say(f"{name}:{tag} {change}, made {made:%Y-%m-%d}, {(datetime.now(UTC) - made).days} days ago")

    def replacement(match: re.Match[str]) -> str:
        image = renewed.get((match["name"], match["tag"]))
        return match[0] if image is None else match["before"] + image

    return {path: _REFERENCE.sub(replacement, text) for path, text in texts.items()}


def main(folder: Path) -> None:
    """Renew, or say in a line that nothing was."""
    registry = os.environ.get("IMAGE_REGISTRY", "")
    if not re.match(r"https://|http://(127\.0\.0\.1|localhost)[:/]", registry):
        print("Images were not renewed: set IMAGE_REGISTRY=https://… to a registry that you trust.")  # noqa: T201
        return
    texts = {folder / name: (folder / name).read_text() for name in FILES}
    lines: list[str] = []
    try:
        renewed = renew(texts, registry, lines.append)
    except (RegistryError, OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        cause = error if isinstance(error, RegistryError) else f"no usable answer ({type(error).__name__})"
        print(f"Images were not renewed: {cause}.")  # noqa: T201
        return
    for path, text in renewed.items():
        path.write_text(text)
    print(*lines, sep="\n")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
