"""Sets up sign-in, which django-allauth does: passwords, second factors, what is asked again."""

from typing import Final

from heatmaps.config import mail

LOGIN_URL: Final = "account_login"
LOGIN_REDIRECT_URL: Final = "home"
LOGOUT_REDIRECT_URL: Final = "account_login"
AUTH_PASSWORD_VALIDATORS: Final = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

PASSWORD_HASHERS: Final = ["heatmaps.http.password_places.PasswordHasher"]
PASSWORD_RESET_TIMEOUT: Final = 24 * 3600  # seconds that a link for a new password works
SESSION_ENGINE: Final = "heatmaps.people.sessions"

ACCOUNT_ADAPTER: Final = "heatmaps.people.sign_in.AccountAdapter"
ACCOUNT_LOGIN_METHODS: Final = {"username"}
ACCOUNT_SIGNUP_FIELDS: Final = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION: Final = "none"  # nobody needs an address
ACCOUNT_CHANGE_EMAIL: Final = True  # one address, and a new one in its place once it is verified
ACCOUNT_SESSION_REMEMBER: Final = True
# Attempts are counted by `heatmaps.http.attempt_limits`, for all processes and doors together.
ACCOUNT_RATE_LIMITS: Final = False
MFA_RATE_LIMITS: Final = False
ACCOUNT_REAUTHENTICATION_REQUIRED: Final = True
ACCOUNT_REAUTHENTICATION_TIMEOUT: Final = 300  # seconds
ACCOUNT_REAUTHENTICATION_METHODS: Final = {"password", "mfa"}  # no code by mail: its reader may be anybody
ACCOUNT_FORMS: Final = {
    "login": "heatmaps.views.account.forms.sign_in.SignInForm",
    "reauthenticate": "heatmaps.views.account.forms.sign_in.ConfirmForm",
    "change_password": "heatmaps.views.account.forms.sign_in.ChangePasswordForm",
    "reset_password": "heatmaps.views.account.forms.sign_in.ForgottenForm",
    "add_email": "heatmaps.views.account.forms.sign_in.MailAddressForm",
}

MFA_ADAPTER: Final = "heatmaps.people.sign_in.MFAAdapter"
MFA_FORMS: Final = {
    "authenticate": "heatmaps.views.account.forms.sign_in.CodeForm",
    "reauthenticate": "heatmaps.views.account.forms.sign_in.ConfirmByCodeForm",
    "activate_totp": "heatmaps.views.account.forms.sign_in.NewAppForm",
    "authenticate_webauthn": "heatmaps.views.account.forms.passkeys.SecondFactorForm",
    "reauthenticate_webauthn": "heatmaps.views.account.forms.passkeys.ConfirmingForm",
}
MFA_SUPPORTED_TYPES: Final = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED: Final = True
MFA_WEBAUTHN_USER_VERIFICATION: Final = "required"  # whoever finds a key cannot use it
MFA_TOTP_ISSUER: Final = "Hazemap"
MFA_TOTP_TOLERANCE: Final = 0  # periods before and after the present one
MFA_RECOVERY_CODES_SHOW_ONCE: Final = True
MFA_ALLOW_UNVERIFIED_EMAIL: Final = True  # an address that is not verified is good for nothing here

SOCIALACCOUNT_ADAPTER: Final = "heatmaps.people.provider_answers.SocialAccountAdapter"
SOCIALACCOUNT_AUTO_SIGNUP: Final = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION: Final = False
SOCIALACCOUNT_LOGIN_ON_GET: Final = False
SOCIALACCOUNT_QUERY_EMAIL: Final = False
SOCIALACCOUNT_STORE_TOKENS: Final = False

MAIL: Final = mail.server()
EMAIL_BACKEND: Final = f"django.core.mail.backends.{'dummy' if MAIL is None else 'smtp'}.EmailBackend"
EMAIL_TIMEOUT: Final = 10  # seconds
EMAIL_SUBJECT_PREFIX: Final = ""
if MAIL is not None:
    EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.tls == "starttls", MAIL.tls == "tls"
    DEFAULT_FROM_EMAIL = SERVER_EMAIL = MAIL.sender
