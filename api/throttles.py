"""Rate-limits tokens and password attempts (`heatmaps.http.attempt_limits`)."""

from typing import Any

from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from heatmaps.http import attempt_limits, byte_ranges
from heatmaps.http.content_length import was_admitted
from heatmaps.models import ApiToken


class CountedThrottle(SimpleRateThrottle):
    """Counts like the framework's, but requests at the same moment cannot miss each other's counts."""

    scope: str
    seconds_to_wait = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        if was_admitted(request):
            return True
        key, (most, seconds) = self.counting_key(request), self.parse_rate(self.rate)
        if key is None or most is None or seconds is None:
            return True
        self.seconds_to_wait = attempt_limits.seconds_to_wait(self.scope, key, most=most, seconds=seconds)
        return self.seconds_to_wait == 0

    def get_ident(self, request: Request) -> str:
        return attempt_limits.address_of(request)

    def wait(self) -> float:
        return self.seconds_to_wait

    def counting_key(self, request: Request) -> str | None:
        """Returns what is counted apart from everything else; None: not counted."""
        raise NotImplementedError


class TokenThrottle(CountedThrottle):
    """Counts requests of one token."""

    scope = "token"

    def counting_key(self, request: Request) -> str | None:
        return request.auth.token_key if isinstance(request.auth, ApiToken) else None


class SignInThrottle(CountedThrottle):
    """Counts sign-in attempts, by address and by name, with those at the page."""

    scope = attempt_limits.SIGN_IN_NAME

    def allow_request(self, request: Request, view: Any) -> bool:
        name = request.data.get("username") if isinstance(request.data, dict) else None
        username = name if isinstance(name, str) else None
        self.seconds_to_wait = attempt_limits.sign_in(username, self.get_ident(request))
        return self.seconds_to_wait == 0


class BlurThrottle(CountedThrottle):
    """Counts files that a person has blurred, at the page and here together."""

    scope = attempt_limits.BLUR

    def counting_key(self, request: Request) -> str | None:
        return str(request.user.pk) if isinstance(request.auth, ApiToken) else None


class GuidesThrottle(CountedThrottle):
    """Counts guide files that a person sends, at the page and here together; lists of them are not
    counted."""

    scope = attempt_limits.GUIDES

    def counting_key(self, request: Request) -> str | None:
        is_counted = request.method == "POST" and isinstance(request.auth, ApiToken)
        return str(request.user.pk) if is_counted else None


class AreasThrottle(CountedThrottle):
    """Counts sums of maps over areas that one token, or one address without a token, asks for."""

    scope = attempt_limits.AREAS

    def counting_key(self, request: Request) -> str | None:
        return request.auth.token_key if isinstance(request.auth, ApiToken) else self.get_ident(request)


class PublicThrottle(CountedThrottle):
    """Counts requests without a token, for public releases: of a person by session, else from one address."""

    scope = attempt_limits.PUBLIC_ADDRESS

    def counting_key(self, request: Request) -> str | None:
        if isinstance(request.auth, ApiToken):
            return None
        # Nobody who shares their address takes what is theirs.
        return f"person {request.user.pk}" if isinstance(request.user, User) else self.get_ident(request)


class TilesThrottle(PublicThrottle):
    """Counts tiles, features and parts of rasters: a map on a screen asks for dozens at once."""

    scope = attempt_limits.TILES


class FileThrottle(PublicThrottle):
    """Counts files of public releases; parts of a file that programs read in parts are counted with tiles."""

    def allow_request(self, request: Request, view: Any) -> bool:
        is_part = view.kwargs.get("suffix") == "tif" and byte_ranges.asks_for_part(request)
        self.scope = attempt_limits.TILES if is_part else attempt_limits.PUBLIC_ADDRESS
        self.rate = self.get_rate()
        return super().allow_request(request, view)
