"""Passkeys: what was not asked for here, of this person and now, with its owner there, lets nobody in."""

import html
import json
import random
import re

import pytest
from allauth.mfa.models import Authenticator as Stored
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from heatmaps.models import ApiToken, CodeKind, CodeTries
from heatmaps.people import accounts
from tests.pages.confirming import confirm
from tests.people.authenticator import FLAG, Authenticator, websafe_encode

ADD, ALONE, LIST = "mfa_add_webauthn", "mfa_login_webauthn", "mfa_list_webauthn"
PASSWORD = "stones roll down hills"


def browser(**options):
    return Client(headers={"host": "localhost"}, **options)


@pytest.fixture
def anna(db):
    return User.objects.create_user("anna", password=PASSWORD)


@pytest.fixture
def inside(anna):
    client = browser()
    client.force_login(anna)
    confirm(client, anna)
    return client


@pytest.fixture
def phone(inside):
    """Holds a passkey of Anna."""
    made = Authenticator()
    answer = add(inside, made)
    assert answer.status_code == 302, answer.content.decode()
    return made


def offered(client, address):
    """The options that a page's form carries."""
    page = client.get(address).content.decode()
    return json.loads(html.unescape(re.search(r'data-options="([^"]+)"', page)[1]))


def add(client, device, more=(), **lies):
    told = device.make(offered(client, reverse(ADD)), **lies)
    return client.post(reverse(ADD), {"name": "Phone", "credential": json.dumps(told)} | dict(more))


def asked_alone(client):
    return client.get(reverse(ALONE)).json()["request_options"]


def sign_in(client, told):
    client.post(reverse(ALONE), {"credential": told if isinstance(told, str) else json.dumps(told)})
    return who(client)


def who(client):
    return User.objects.filter(pk=client.session.get("_auth_user_id")).first()


def passkeys():
    return Stored.objects.filter(type=Stored.Type.WEBAUTHN)


def test_the_first_passkey_ends_tokens_that_the_password_made(inside, anna):
    """Its form says so; what is made later stays with the second one."""
    ApiToken.objects.create(user=anna, name="laptop", scopes=["read"])
    assert re.search(r'name="revoke_tokens"[^>]* checked', inside.get(reverse(ADD)).content.decode())

    add(inside, Authenticator(), {"revoke_tokens": "on"})

    assert not ApiToken.objects.exists()
    ApiToken.objects.create(user=anna, name="laptop", scopes=["read"])
    assert "revoke_tokens" not in inside.get(reverse(ADD)).content.decode()
    add(inside, Authenticator(identifier=b"another"), {"revoke_tokens": "on"})
    assert ApiToken.objects.count() == 1


def test_a_passkey_lets_in_whose_codes_were_guessed_and_ends_the_count(phone, anna):
    for kind in CodeKind.values:
        CodeTries.objects.create(user=anna, kind=kind, wrong=100, full_at=timezone.now())
    client = browser()
    assert sign_in(client, phone.use(asked_alone(client))) == anna
    assert set(CodeTries.objects.values_list("wrong", flat=True)) == {0}


def test_a_passkey_signs_in_by_itself(phone, anna):
    client = browser()
    assert sign_in(client, phone.use(asked_alone(client))) == anna


LIES = [
    {"origin": "http://evil.localhost"},
    {"origin": "http://localhost:8000"},
    {"origin": "https://localhost"},
    {"origin": "http://localhost.evil.example"},
    {"origin": ["http://localhost"]},
    {"crossOrigin": True},
    {"type": "payment.get"},
    {"challenge": "AAAA"},
    {"challenge": None},
    {"rp": "evil.localhost"},
    {"flags": FLAG.UP},  # nobody was asked for a finger or a PIN
    {"flags": FLAG.UV},
]


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_a_lie_adds_nothing(inside, lie):
    assert add(inside, Authenticator(), **lie).status_code == 200
    assert not passkeys().exists()


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_a_lie_lets_nobody_in(phone, lie):
    client = browser()
    assert sign_in(client, phone.use(asked_alone(client), **lie)) is None


def test_an_answer_is_of_one_browser_and_counts_once(phone, anna):
    first, second = browser(), browser()
    told = phone.use(asked_alone(first))
    asked_alone(second)
    assert sign_in(second, told) is None
    assert sign_in(first, told) == anna
    first.post(reverse("account_logout"))
    assert sign_in(first, told) is None


@pytest.mark.parametrize(
    ("signed", "accepted"),
    [((5, 6, 9), True), ((0, 0, 0), True), ((5, 5), False), ((5, 7, 6), False), ((5, 7, 0), False)],
)
def test_a_copy_of_a_passkey_is_noticed(inside, anna, signed, accepted):
    device = Authenticator(signed=signed[0])
    add(inside, device)
    for device.signed in signed[1:]:
        client = browser()
        last = sign_in(client, device.use(asked_alone(client)))

    assert (last == anna) is accepted


def test_a_passkey_is_of_one_person(phone, anna):
    """Another one's handle, with one's own passkey; another one's passkey, with one's own handle."""
    ben = User.objects.create_user("ben", password=PASSWORD)
    client = browser()
    client.force_login(ben)
    confirm(client, ben)
    own = Authenticator(identifier=b"of ben")
    add(client, own)
    visitor = browser()
    assert sign_in(visitor, own.use(asked_alone(visitor), user=phone.user)) is None
    assert sign_in(visitor, phone.use(asked_alone(visitor), user=own.user)) is None
    impostor = Authenticator(identifier=phone.identifier, user=phone.user)
    assert sign_in(visitor, impostor.use(asked_alone(visitor))) is None
    for user in ("", "MA", "AAAA", "___", websafe_encode(b"x" * 99), 5, ["MQ"], None):
        assert sign_in(visitor, phone.use(asked_alone(visitor), user="" if user is None else user)) is None


def test_a_closed_account_stays_closed(phone, anna):
    User.objects.filter(pk=anna.pk).update(is_active=False)
    client = browser()
    assert sign_in(client, phone.use(asked_alone(client))) is None


def test_it_is_asked_for_after_the_password(phone, anna):
    client = browser()
    sent = client.post(reverse("account_login"), {"login": "anna", "password": PASSWORD})
    assert (sent["Location"], who(client)) == (reverse("mfa_authenticate"), None)
    for device, lies in ((Authenticator(user=phone.user), {}), (phone, {"flags": FLAG.UP}), (phone, {})):
        told = device.use(offered(client, reverse("mfa_authenticate")), **lies)
        client.post(reverse("mfa_authenticate"), {"credential": json.dumps(told)})
        assert who(client) == (anna if device is phone and not lies else None)


@pytest.mark.long
def test_what_has_no_sense_is_refused_and_no_fault(settings, phone, inside, anna):
    """Fixed disorder: bytes changed, parts left out, other types, depths and lengths."""
    settings.MOST_A_MINUTE = dict.fromkeys(settings.MOST_A_MINUTE, 10_000)
    chance, client = random.Random(5), browser()
    for credential in [*odd(phone.use(asked_alone(client)), chance), *DISORDER]:
        assert client.post(reverse(ALONE), {"credential": credential}).status_code == 302, credential
        assert who(client) is None, credential
    made = Authenticator(identifier=b"another").make(offered(inside, reverse(ADD)))
    for credential in [*odd(made, chance), *DISORDER]:  # a bit of a key may be another key
        assert inside.post(reverse(ADD), {"name": "x", "credential": credential}).status_code in {200, 302}
    assert sign_in(client, phone.use(asked_alone(client))) == anna


DISORDER = ["", "null", "5", "[]", "{}", "{", '{"response": 5}', "[" * 30_000, '{"a":' * 5_000, "x" * 40_000]
WRONG = [None, 5, "", "A", "!!", [], {}, "AAAA", "\x00", "o2NmbXRkbm9uZQ"]


def odd(told, chance):
    for name in ("rawId", "response"):
        yield from (json.dumps(told | {name: value}) for value in WRONG)
    yield from (json.dumps(told | {"id": value}) for value in WRONG if value is not None)  # may be left out
    for name, letters in told["response"].items():
        changes = [*WRONG, letters[: len(letters) // 2]]
        for _ in range(20):
            at = chance.randrange(len(letters) - 1)  # the last letter has bits that count for nothing
            changes.append(letters[:at] + ("A" if letters[at] != "A" else "B") + letters[at + 1 :])
        for value in changes:
            yield json.dumps(told | {"response": told["response"] | {name: value}})


def test_passkeys_are_those_of_their_owner_alone(phone, client):
    ben = User.objects.create_user("ben", password=PASSWORD)
    client.force_login(ben)
    confirm(client, ben)
    own = passkeys().get().pk
    assert "Phone" not in client.get(reverse(LIST)).content.decode()
    for name in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        for method in (client.get, client.post):
            assert method(reverse(name, args=[own]), {"name": "x"}).status_code == 404
    assert passkeys().get().wrap().name == "Phone"


def test_the_last_way_in_stays(phone, inside, anna):
    anna.set_unusable_password()
    anna.save()
    inside.force_login(anna)
    confirm(inside, anna)
    address = reverse("mfa_remove_webauthn", args=[passkeys().get().pk])
    answer = inside.post(address)
    assert (answer.status_code, "nobody could sign in" in answer.content.decode()) == (409, True)
    add(inside, Authenticator(identifier=b"another"))
    assert inside.post(address).status_code == 302
    assert passkeys().count() == 1


def test_the_last_factor_stays_where_one_is_required(phone, inside, anna):
    accounts.require_second_factor(User.objects.create_superuser("administrator"), True)
    address = reverse("mfa_remove_webauthn", args=[passkeys().get().pk])
    answer = inside.post(address)
    assert (answer.status_code, "requires a second factor" in answer.content.decode()) == (409, True)
    add(inside, Authenticator(identifier=b"another"))
    assert inside.post(address).status_code == 302


def test_one_is_set_up_where_one_is_required(inside):
    accounts.require_second_factor(User.objects.create_superuser("administrator"), True)
    assert inside.get(reverse("home"))["Location"] == reverse("mfa_index")
    assert inside.get(reverse(LIST)).status_code == 200
    add(inside, Authenticator())
    assert inside.get(reverse("home")).status_code == 200


def test_other_sessions_end_when_one_is_added_or_removed(inside, anna):
    for act in (
        lambda: add(inside, Authenticator()),
        lambda: inside.post(reverse("mfa_remove_webauthn", args=[passkeys().get().pk])),
    ):
        other = browser()
        other.force_login(anna)
        act()
        assert (who(other), who(inside)) == (None, anna)


def test_who_said_long_ago_who_it_is_is_asked_again(phone, inside, anna):
    confirm(inside, anna, seconds_ago=301)
    own = [passkeys().get().pk]
    for name, about in ((ADD, []), ("mfa_edit_webauthn", own), ("mfa_remove_webauthn", own)):
        for method in (inside.get, inside.post):
            assert "/account/confirm/" in method(reverse(name, args=about))["Location"]
    assert passkeys().count() == 1


def test_attempts_are_counted(settings, db):
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"sign_in_address": 2}
    client = browser()
    statuses = [client.post(reverse(ALONE), {"credential": "{}"}).status_code for _ in range(3)]
    assert statuses == [302, 302, 429]


@pytest.mark.parametrize(
    ("host", "secure", "words"),
    [
        ("127.0.0.1", False, "need a name in the address, such as localhost, not 127.0.0.1."),
        ("127.0.0.1:8000", True, "such as localhost:8000, not 127.0.0.1."),
        ("[::1]", False, "such as localhost, not [::1]."),
        ("[::1]:8000", True, "such as localhost:8000, not [::1]."),
        ("192.0.2.1:8000", True, "such as maps.example.org, not 192.0.2.1."),
        ("maps.example.org", False, "begins with https"),
        ("maps.example.org:8443", True, ""),
        ("localhost", False, ""),
        ("localhost:8000", False, ""),
    ],
)
def test_an_address_has_passkeys_or_says_why_not(settings, anna, host, secure, words):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "[::1]", "192.0.2.1", "localhost", "maps.example.org"]
    visitor = Client(headers={"host": host})
    door = visitor.get(reverse("account_login"), secure=secure).content.decode()
    assert ("Sign in with a passkey" in door) == (not words)
    assert "Passkeys need" not in door.replace("Passkeys need JavaScript", "")  # of use to nobody there
    visitor.force_login(anna)
    confirm(visitor, anna)
    shown = [visitor.get(reverse(name), secure=secure).content.decode() for name in (LIST, ADD)]
    for page in shown:
        assert ("Passkeys need" in page.replace("Passkeys need JavaScript", "")) == bool(words)
        assert words in page
    if not words:
        rp = json.loads(html.unescape(re.search(r'data-options="([^"]+)"', shown[1])[1]))["publicKey"]["rp"]
        assert rp["id"] == host.partition(":")[0]
