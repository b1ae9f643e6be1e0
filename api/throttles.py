"""How often a token, and whoever guesses passwords, may ask. Counted in each web process."""

import hashlib
from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from heatmaps.models import ApiToken


class TokenThrottle(SimpleRateThrottle):
    """Requests of one token."""

    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:  # noqa: ARG002
        if not isinstance(request.auth, ApiToken):
            return None
        return self.cache_format % {"scope": self.scope, "ident": request.auth.token_key}


class AddressThrottle(SimpleRateThrottle):
    """Sign-in attempts from one address, whatever the names."""

    scope = "sign_in_address"

    def get_cache_key(self, request: Request, view: Any) -> str | None:  # noqa: ARG002
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}


class NameThrottle(SimpleRateThrottle):
    """Sign-in attempts for one name, wherever they come from."""

    scope = "sign_in_name"

    def get_cache_key(self, request: Request, view: Any) -> str | None:  # noqa: ARG002
        name = request.data.get("username") if isinstance(request.data, dict) else None
        if not isinstance(name, str):
            return None
        digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()
        return self.cache_format % {"scope": self.scope, "ident": digest}
