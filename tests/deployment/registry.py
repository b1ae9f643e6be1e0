"""A registry of images on this machine: what `.docker/images.py` needs of OCI's distribution specification.

Tags in pages, an index of two platforms, blobs that are elsewhere, and nothing without a token.
"""

import hashlib
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
PAGE = 2  # tags


@dataclass(slots=True)
class Images:
    """`tags` by repository; `contents` by digest; `newest`: the digest of the first tag of each repository;
    `tokens_elsewhere`: what came with requests for blobs."""

    tags: dict = field(default_factory=dict)
    contents: dict = field(default_factory=dict)
    newest: dict = field(default_factory=dict)
    tokens_elsewhere: list = field(default_factory=list)

    def add(self, repository, tag, created):
        config = self._stored({"created": created, "os": "linux", "tag": tag})
        other = self._stored({"created": "2001-01-01T00:00:00Z", "os": "linux"})
        platforms = {"amd64": self._manifest(config), "arm64": self._manifest(other)}
        entries = [
            {"mediaType": MANIFEST, "digest": digest, "platform": {"os": "linux", "architecture": name}}
            for name, digest in platforms.items()
        ]
        digest = self._stored({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})
        self.tags.setdefault(repository, {})[tag] = digest
        self.newest.setdefault(repository, digest)

    def spoil(self):
        """Every blob becomes another than its digest says."""
        self.contents = {
            digest: content if b"manifest" in content or b"config" in content else content + b" "
            for digest, content in self.contents.items()
        }

    def _manifest(self, config):
        return self._stored({"schemaVersion": 2, "mediaType": MANIFEST, "config": {"digest": config}})

    def _stored(self, document):
        content = json.dumps(document).encode()
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.contents[digest] = content
        return digest


class Handler(BaseHTTPRequestHandler):
    """Answers about `server.images`."""

    def do_GET(self):
        address = urlsplit(self.path)
        first, *others = address.path.strip("/").split("/")
        {"token": self._token, "elsewhere": self._elsewhere, "v2": self._repository}[first](
            *others, query=parse_qs(address.query)
        )

    def _token(self, query):
        scope = query["scope"][0]
        self._answer(200, {"token": f"token of {scope}"})

    def _elsewhere(self, digest, query):
        self.server.images.tokens_elsewhere.append(self.headers["Authorization"])
        self._answer(200, self.server.images.contents[digest])

    def _repository(self, namespace, name, kind, reference, query):
        repository = f"{namespace}/{name}"
        scope = f"repository:{repository}:pull"
        if self.headers["Authorization"] != f"Bearer token of {scope}":
            realm = f"http://127.0.0.1:{self.server.server_port}/token"
            challenge = f'Bearer realm="{realm}",service="here",scope="{scope}"'
            self._answer(401, {}, {"WWW-Authenticate": challenge})
        elif kind == "blobs":
            self._answer(307, {}, {"Location": f"/elsewhere/{reference}"})
        elif kind == "tags":
            self._page(repository, query)
        else:
            assert INDEX in self.headers["Accept"]
            tags = self.server.images.tags[repository]
            self._answer(200, self.server.images.contents[tags.get(reference, reference)])

    def _page(self, repository, query):
        tags = sorted(self.server.images.tags[repository])
        begin = tags.index(query["last"][0]) + 1 if "last" in query else 0
        page = tags[begin : begin + PAGE]
        more = f'</v2/{repository}/tags/list?n={PAGE}&last={page[-1]}>; rel="next"'
        self._answer(200, {"tags": page}, {"Link": more} if tags[-1] != page[-1] else {})

    def _answer(self, status, content, headers=None):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


@contextmanager
def serving(images):
    """Its address, with the namespace of its images."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.images = images
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/library"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
