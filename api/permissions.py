"""Checks the scopes of tokens; views check roles (`heatmaps.people.permissions`)."""

from typing import Any, Final

from django.contrib.auth.models import User
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from api.refusals import InsufficientScope
from heatmaps.models import ApiToken
from heatmaps.releases import publication

ANY_SCOPE: Final = ""


class HasScope(BasePermission):
    """Asks for the scope that the view's `scopes` names for the method; nobody comes in without a token."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, ApiToken):
            return False
        method = "GET" if request.method == "HEAD" else str(request.method)
        scope = view.scopes.get(method, ANY_SCOPE)  # a method the view does not have ends in 405
        if scope and scope not in request.auth.scopes:
            raise InsufficientScope(scope)
        return True


class HasScopeOrPublic(HasScope):
    """Lets also whoever sends no token read a release that is public; of others he learns nothing (401)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.auth is None and request.method in SAFE_METHODS:
            return publication.is_public(view.kwargs["release_id"])
        return super().has_permission(request, view)


class ForMapPrograms(HasScopeOrPublic):
    """Lets in as `HasScopeOrPublic`, and whoever is signed in at the pages: the view asks for the role. What
    is about no release of its own is for everybody."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.auth is None and request.method in SAFE_METHODS:
            named = "release_id" in view.kwargs
            return isinstance(request.user, User) or not named or super().has_permission(request, view)
        return super().has_permission(request, view)


def is_nobody(request: Request) -> bool:
    """Tells whether a request comes with neither token nor session, so that anybody would get the same
    answer."""
    return request.auth is None and not isinstance(request.user, User)
