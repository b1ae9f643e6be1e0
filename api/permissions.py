"""Scopes of tokens. Roles of people are checked by the functions that the views call (`heatmaps.access`)."""

from typing import Any, Final

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from api.refusals import InsufficientScope
from heatmaps.models import ApiToken

ANY_SCOPE: Final = ""


class HasScope(BasePermission):
    """The token carries the scope that the view's `scopes` names for the method; nobody comes in without."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, ApiToken):
            return False
        method = "GET" if request.method == "HEAD" else str(request.method)
        wanted = view.scopes.get(method, ANY_SCOPE)  # a method the view does not have ends in 405
        if wanted and wanted not in request.auth.scopes:
            raise InsufficientScope(wanted)
        return True
