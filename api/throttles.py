"""How often a token, and whoever guesses passwords, may ask. Counted as `heatmaps.attempts` says."""

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from heatmaps import attempts
from heatmaps.models import ApiToken


class CountedThrottle(SimpleRateThrottle):
    """Like the framework's, but requests at the same moment cannot miss each other's counts."""

    scope: str
    seconds_to_wait = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        whose, (most, seconds) = self.whose(request), self.parse_rate(self.rate)
        if whose is None or most is None or seconds is None:
            return True
        self.seconds_to_wait = attempts.seconds_to_wait(self.scope, whose, most=most, seconds=seconds)
        return self.seconds_to_wait == 0

    def get_ident(self, request: Request) -> str:
        return attempts.address_of(request)

    def wait(self) -> float:
        return self.seconds_to_wait

    def whose(self, request: Request) -> str | None:
        """What is counted apart from everything else; None: not counted."""
        raise NotImplementedError


class TokenThrottle(CountedThrottle):
    """Requests of one token."""

    scope = "token"

    def whose(self, request: Request) -> str | None:
        return request.auth.token_key if isinstance(request.auth, ApiToken) else None


class AddressThrottle(CountedThrottle):
    """Sign-in attempts from one address, whatever the names."""

    scope = attempts.SIGN_IN_ADDRESS

    def whose(self, request: Request) -> str | None:
        return self.get_ident(request)


class NameThrottle(CountedThrottle):
    """Sign-in attempts for one name from one address: others cannot lock a person out."""

    scope = attempts.SIGN_IN_NAME

    def whose(self, request: Request) -> str | None:
        name = request.data.get("username") if isinstance(request.data, dict) else None
        return attempts.name_from(name, self.get_ident(request)) if isinstance(name, str) else None


class BlurThrottle(CountedThrottle):
    """Files that a person has blurred, at the page and here together."""

    scope = attempts.BLUR

    def whose(self, request: Request) -> str | None:
        return str(request.user.pk) if isinstance(request.auth, ApiToken) else None


class PublicThrottle(CountedThrottle):
    """Requests without a token, for public releases, from one address."""

    scope = attempts.PUBLIC_ADDRESS

    def whose(self, request: Request) -> str | None:
        return None if isinstance(request.auth, ApiToken) else self.get_ident(request)
