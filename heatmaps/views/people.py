"""Signs people in and out."""

from django.contrib.auth.views import LoginView, LogoutView
from django.utils.decorators import method_decorator

from heatmaps.http.rate_limits import limited_sign_in


@method_decorator(limited_sign_in, name="dispatch")
class SignIn(LoginView):
    template_name = "people/sign_in.html"
    redirect_authenticated_user = True


class SignOut(LogoutView):
    http_method_names = ["post", "options"]
