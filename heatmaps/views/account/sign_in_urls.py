"""Routes sign-in, one by one: what of allauth does not stand here does not exist.

The names are allauth's own, since its code looks them up.
"""

from django.urls import path, re_path

from heatmaps.views.account import passkeys, sign_in, sign_in_provider
from heatmaps.views.account.sign_in_provider import with_provider_button

urlpatterns = [
    path("sign-in/", with_provider_button(sign_in.sign_in), name="account_login"),
    path("sign-in/code/", sign_in.code, name="mfa_authenticate"),
    path("sign-in/forgotten/", sign_in.forgotten, name="account_reset_password"),
    path("sign-in/forgotten/sent/", sign_in.forgotten_sent, name="account_reset_password_done"),
    path("account/mail/", sign_in.mail_address, name="account_email"),
    re_path(r"^account/mail/(?P<key>[-:\w]{1,200})/$", sign_in.confirm_address, name="account_confirm_email"),
    re_path(
        r"^sign-in/new-password/(?P<secret>[\w-]{1,100})/$",
        sign_in.new_password,
        name="account_reset_password_from_key",
    ),
    path("sign-out/", sign_in.sign_out, name="account_logout"),
    path("account/confirm/", sign_in.confirm, name="account_reauthenticate"),
    path("account/confirm/code/", sign_in.confirm_by_code, name="mfa_reauthenticate"),
    path("account/password/", sign_in.password, name="account_change_password"),
    path("account/second-factor/", sign_in.second_factor, name="mfa_index"),
    path("account/second-factor/app/", sign_in.new_app, name="mfa_activate_totp"),
    path("account/second-factor/app/remove/", sign_in.remove_app, name="mfa_deactivate_totp"),
    path("account/second-factor/codes/", sign_in.recovery_codes, name="mfa_view_recovery_codes"),
    path("account/second-factor/codes/new/", sign_in.new_recovery_codes, name="mfa_generate_recovery_codes"),
    path("sign-in/passkey/", passkeys.sign_in, name="mfa_login_webauthn"),
    path("account/confirm/passkey/", passkeys.confirm, name="mfa_reauthenticate_webauthn"),
    path("account/passkeys/", passkeys.listed, name="mfa_list_webauthn"),
    path("account/passkeys/new/", passkeys.add, name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/name/", passkeys.rename, name="mfa_edit_webauthn"),
    path("account/passkeys/<int:pk>/remove/", passkeys.remove, name="mfa_remove_webauthn"),
    path("sign-in/provider/", sign_in_provider.start, name="sign-in-provider"),
    path("sign-in/provider/answer/", sign_in_provider.answer, name="sign-in-provider-answer"),
    path("sign-in/provider/name/", sign_in_provider.name, name="sign-in-provider-name"),
    path("sign-in/provider/invitation/", sign_in_provider.invited, name="sign-in-provider-invitation"),
    path("account/provider/", sign_in_provider.link, name="account-provider"),
    path("account/confirm/provider/", sign_in_provider.again, name="account-confirm-provider"),
    path("account/provider/confirm/", sign_in_provider.confirm, name="account-provider-confirm"),
    path("account/provider/remove/", sign_in_provider.unlink, name="account-provider-remove"),
]
