"""Codes of a second factor: how many may be guessed, what their owner learns, and how the owner gets in."""

import time
from datetime import timedelta

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from heatmaps.http import counters
from heatmaps.models import CodeTries
from heatmaps.people import code_tries
from tests.pages.confirming import confirm

PASSWORD = "long enough to pass"
SECRET = auth.generate_totp_secret()
WRONG = {"app": "000000", "recovery": "00000000"}
CODE, CONFIRM = "mfa_authenticate", "mfa_reauthenticate"


@pytest.fixture(autouse=True)
def no_codes_of_earlier_tests(settings):
    cache.clear()
    settings.MFA_TOTP_TOLERANCE = 1  # a period may end before the code is looked at


@pytest.fixture
def ada(people):
    return User.objects.create_user("ada", password=PASSWORD)


@pytest.fixture
def recovery_codes(ada):
    """Of somebody with an app."""
    auth.TOTP.activate(ada, SECRET)
    return RecoveryCodes.activate(ada).generate_codes()


@pytest.fixture
def type_code(recovery_codes):
    """What somebody reads who knows the password and enters a code, each time from another address."""
    clients, addresses = [], (f"198.51.100.{number}" for number in range(250))

    def enter(code):
        if not clients:
            clients.append(Client())
            clients[0].post(reverse("account_login"), {"login": "ada", "password": PASSWORD})
        answer = clients[0].post(reverse(CODE), {"code": code}, REMOTE_ADDR=next(addresses))
        return "inside" if answer.status_code == 302 and clients.pop() else answer.content.decode()

    return enter


def code_now():
    return auth.format_hotp_value(auth.hotp_value(SECRET, int(time.time()) // 30))


def hours_pass(hours):
    """As if every try had been so much earlier."""
    for row in CodeTries.objects.all():
        CodeTries.objects.filter(pk=row.pk).update(full_at=row.full_at - timedelta(hours=hours))


def test_whoever_knows_the_password_cannot_try_all_codes(type_code):
    """Ten at once, then one an hour: from whatever address, and whatever is started again in between."""
    for _ in range(code_tries.AT_ONCE):
        assert "code is wrong" in type_code(WRONG["app"])
    counters.own().clear()
    cache.clear()
    assert "Too many wrong app codes" in type_code(code_now())

    hours_pass(1)
    assert "code is wrong" in type_code(WRONG["app"])
    assert "Too many wrong app codes" in type_code(WRONG["app"])
    hours_pass(1)
    assert type_code(code_now()) == "inside"


def test_all_doors_count_together(type_code, ada):
    browser = Client()
    browser.force_login(ada)
    confirm(browser, ada, seconds_ago=301)
    for _ in range(code_tries.AT_ONCE - 1):
        type_code(WRONG["app"])

    told = [
        browser.post(reverse(CONFIRM), {"code": code}).content.decode() for code in ("000000", code_now())
    ]

    assert "code is wrong" in told[0]
    assert "Too many wrong app codes" in told[1]


def test_who_guesses_app_codes_locks_nobody_out(type_code, recovery_codes):
    """A recovery code lets its owner in, and then the app does."""
    for _ in range(code_tries.AT_ONCE + 1):
        refused = type_code(WRONG["app"])
    assert "Use a recovery code or a passkey, or try again in 60 minutes" in refused

    assert type_code(recovery_codes[0]) == "inside"
    assert type_code(code_now()) == "inside"


def test_recovery_codes_have_an_allowance_of_their_own(type_code, recovery_codes):
    for _ in range(code_tries.AT_ONCE):
        assert "code is wrong" in type_code(WRONG["recovery"])
    assert "Too many wrong recovery codes" in type_code(recovery_codes[0])

    assert type_code(code_now()) == "inside"
    assert type_code(recovery_codes[0]) == "inside"


def test_a_hundred_wrong_ones_in_a_row_are_all(type_code, ada, recovery_codes):
    """However long somebody waits; the page says what its owner does."""
    CodeTries.objects.create(user=ada, kind="app", wrong=code_tries.MOST - 1, full_at=timezone.now())
    assert "code is wrong" in type_code(WRONG["app"])
    hours_pass(10_000)

    refused = type_code(code_now())

    assert "100 wrong app codes were entered in a row, so none is checked any more" in refused
    assert "Use a recovery code or a passkey, or ask an administrator to remove your second factor" in refused
    assert type_code(recovery_codes[0]) == "inside"
    assert type_code(code_now()) == "inside"


def test_removing_the_second_factor_ends_the_counts(type_code, ada):
    for kind, code in WRONG.items():
        CodeTries.objects.create(user=ada, kind=kind, wrong=code_tries.MOST, full_at=timezone.now())
        assert "none is checked any more" in type_code(code)

    call_command("removesecondfactor", "ada")
    auth.TOTP.activate(ada, SECRET)

    assert type_code(code_now()) == "inside"


def test_what_can_be_no_code_is_wrong_and_not_counted(type_code):
    for code in ("1", "12345678901", "１２"):
        assert "code is wrong" in type_code(code)
    assert not CodeTries.objects.exists()


def test_a_lost_key_uses_up_no_try(type_code, settings):
    settings.SECOND_FACTOR_KEY = "another"

    assert "removesecondfactor" in type_code(WRONG["app"])

    assert not CodeTries.objects.exists()


def test_its_owner_reads_of_wrong_codes(type_code, ada):
    """On the account's page and at the next sign-in; not of one or two, which anybody mistypes."""
    inside = Client()
    inside.force_login(ada)
    for times in range(1, 5):
        type_code(WRONG["app"])
        page = inside.get(reverse("account")).content.decode()
        told = f"{times} wrong app codes in a row were entered for your account"
        assert (told in page) == (times >= code_tries.NOTEWORTHY)

    client = Client()
    client.post(reverse("account_login"), {"login": "ada", "password": PASSWORD})
    entered = client.post(reverse(CODE), {"code": code_now()}, follow=True).content.decode()

    assert "4 wrong app codes in a row were entered" in entered
    assert "4 wrong app codes in a row were entered" in client.get(reverse("account")).content.decode()
