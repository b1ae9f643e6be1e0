"""Shows invitations to who holds their links."""

from functools import partial

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from heatmaps.http.rate_limits import limited_sign_in, limited_visits
from heatmaps.models import Dataset, Invitation
from heatmaps.people import invitations
from heatmaps.people.invitations import NewLink, NoSuchLink
from heatmaps.people.refusals import MemberError
from heatmaps.views.people.forms import SignUpForm
from heatmaps.views.requests import PersonRequest

FORM_METHODS = ["GET", "HEAD", "POST"]
BACKEND = "django.contrib.auth.backends.ModelBackend"


def _who(request: HttpRequest) -> str:
    return request.user.get_username() or request.POST.get("username", "")


def new_link(request: PersonRequest, link: NewLink, *, back: str, **context: object) -> HttpResponse:
    """Shows a link in this answer and never again."""
    url = request.build_absolute_uri(reverse("invitation", args=[link.secret]))
    return render(request, "people/new_link.html", {"link": link.row, "url": url, "back": back, **context})


@login_not_required
@limited_visits
@partial(limited_sign_in, name_of=_who)
@never_cache
@require_http_methods(FORM_METHODS)
def invitation(request: PersonRequest, secret: str) -> HttpResponse:
    """Accepts it with the account one is signed in with, or makes one by it."""
    try:
        link = invitations.invitation(secret)
        return (
            _accept(request, link, secret)
            if request.user.is_authenticated
            else _sign_up(request, link, secret)
        )
    except NoSuchLink:
        return render(request, "people/no_link.html", status=404)


def _accept(request: PersonRequest, link: Invitation, secret: str) -> HttpResponse:
    context: dict[str, object] = {"link": link, "needs_account": link.dataset is None}
    status = 200
    if request.method == "POST":
        try:
            dataset = invitations.accept(request.user, secret)
            messages.success(request, "You are a member now.")
            return _redirect_to(dataset)
        except (MemberError, PermissionDenied) as refusal:
            context["refusal"], status = refusal, 409
    return render(request, "people/accept.html", context, status=status)


def _sign_up(request: PersonRequest, link: Invitation, secret: str) -> HttpResponse:
    allowed = invitations.may_sign_up(link)
    form = SignUpForm(request.POST or None) if allowed else None
    if request.method == "POST" and form is None:
        raise PermissionDenied("on this server, administrators invite new people")
    if request.method == "POST" and form is not None and form.is_valid():
        user = _new_user(form, secret)
        if user is not None:
            login(request, user, backend=BACKEND)
            messages.success(request, "Your account is ready, and you are signed in.")
            return _redirect_to(link.dataset)
    sign_in = f"{reverse('account_login')}?{urlencode({'next': request.path})}"
    context = {"link": link, "form": form, "sign_in": sign_in}
    return render(request, "people/sign_up.html", context, status=422 if form and form.errors else 200)


def _new_user(form: SignUpForm, secret: str) -> User | None:
    typed = form.cleaned_data
    try:
        return invitations.sign_up(secret, typed["username"], typed["password1"])
    except IntegrityError:
        form.say_taken()
        return None


def _redirect_to(dataset: Dataset | None) -> HttpResponseRedirect:
    return redirect("home") if dataset is None else redirect("dataset", slug=dataset.slug)
