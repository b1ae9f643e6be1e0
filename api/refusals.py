"""Defines the refusals of the API itself; those of the product are in its own modules."""

from fractions import Fraction
from http import HTTPStatus

from rest_framework import exceptions

from heatmaps.ledger.errors import LedgerError
from heatmaps.models import Scope


class TooLarge(exceptions.APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"the body is larger than {most_bytes} bytes, the most that is taken here")


class WrongCredentials(exceptions.AuthenticationFailed):
    """Refuses name or password; which of the two is not said."""

    default_code = "wrong_credentials"
    auth_header = "Bearer"

    def __init__(self) -> None:
        super().__init__("wrong name or password, or the account is closed")


class SecondFactorNeeded(exceptions.PermissionDenied):
    """Refuses name and password that are right, and not enough."""

    default_code = "second_factor_needed"
    default_detail = "signing in needs a second factor; make a token on the page of your account instead"


class PreconditionRequired(exceptions.APIException):
    status_code = HTTPStatus.PRECONDITION_REQUIRED
    default_code = "precondition_required"
    default_detail = "send the budget's ETag as If-Match"


class TooMuch(Exception):  # noqa: N818 - as the refusals of the ledger
    """Refuses a release that does not fit; `largest_epsilon` is the ε at which the same question would, None
    for none."""

    def __init__(self, refusal: LedgerError, largest_epsilon: Fraction | None) -> None:
        self.refusal, self.largest_epsilon = refusal, largest_epsilon
        super().__init__(str(refusal))


class InsufficientScope(exceptions.PermissionDenied):
    """Refuses a token that lacks the scope; its owner's role may well allow the act."""

    default_code = "insufficient_scope"

    def __init__(self, scope: Scope) -> None:
        super().__init__(
            f"this token lacks the scope {scope.value}; make another one at POST /api/v1/tokens/"
        )
