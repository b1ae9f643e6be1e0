"""Mails: to verified addresses alone, after the answer, and the answer is the same for every address."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from heatmaps.config.mail import MailServer, server
from heatmaps.http import counters
from heatmaps.people import code_tries, mails, password_links
from tests.pages.confirming import confirm

PASSWORD, NEW = "long enough to pass", "grass grows by inches"
SERVER = MailServer(
    host="mail.example",
    port=587,
    user="",
    password="",
    tls="starttls",
    sender="maps@example.org",
    origin="http://testserver",
)
FORGOTTEN = "account_reset_password"


@pytest.fixture(autouse=True)
def no_counts_of_earlier_tests():
    counters.own().clear()


@pytest.fixture
def ada(transactional_db, settings):
    """On a server with mails; her address is verified."""
    settings.MAIL = SERVER
    user = User.objects.create_user("ada", password=PASSWORD)
    EmailAddress.objects.create(user=user, email="ada@example.org", verified=True, primary=True)
    return user


@pytest.fixture
def sent():
    """What was sent, once all of it was."""

    def read():
        mails._one_by_one.submit(lambda: None).result(timeout=60)
        return mail.outbox

    return read


@pytest.fixture
def inside(ada):
    client = Client()
    client.force_login(ada)
    confirm(client, ada)
    return client


def ask(address, client=None):
    return (client or Client()).post(reverse(FORGOTTEN), {"email": address}, follow=True)


def link_in(message):
    return re.search(r"http://testserver(/\S+)", message.body)[1]


def test_a_forgotten_password_is_chosen_by_a_mail(ada, sent):
    ask("Ada@Example.org")
    (message,) = sent()
    assert message.to == ["ada@example.org"]
    browser = Client()

    answer = browser.post(link_in(message), {"new_password1": NEW, "new_password2": NEW})

    assert answer["Location"] == reverse("account_login")
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    assert "was changed" in sent()[-1].body
    assert browser.get(link_in(message)).status_code == 404


@pytest.mark.parametrize("whose", ["unknown", "not verified", "closed", "without a password"])
def test_nobody_else_gets_one_and_the_answer_is_the_same(ada, sent, whose):
    other = User.objects.create_user("bob", password=None if "without" in whose else PASSWORD)
    other.email, other.is_active = "bob@example.org", whose != "closed"
    other.save()
    if whose != "unknown":
        verified = whose != "not verified"
        EmailAddress.objects.create(user=other, email="bob@example.org", verified=verified, primary=True)
    told = {}
    for address in ("ada@example.org", "nobody@example.org" if whose == "unknown" else "bob@example.org"):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            answer = ask(address)
        page = answer.content.decode()
        told[address] = (page[page.index("<main") : page.index("</main>")], len(asked))

    assert len(set(told.values())) == 1
    assert [message.to for message in sent()] == [["ada@example.org"]]


def test_an_address_gets_few_mails(ada, sent):
    answers = {ask("ada@example.org").status_code for _ in range(9)}

    assert answers == {200}
    assert len(sent()) == 3


def test_an_address_is_added_by_the_link_that_is_sent_there(inside, ada, sent):
    page = reverse("account_email")
    EmailAddress.objects.all().delete()
    inside.post(page, {"email": "new@example.org", "action_add": ""})
    (message,) = sent()
    assert message.to == ["new@example.org"]
    assert not EmailAddress.objects.filter(verified=True).exists()
    stranger = Client()
    stranger.force_login(User.objects.create_user("eve"))
    assert Client().get(link_in(message)).status_code == 302
    assert stranger.post(link_in(message)).status_code == 404
    assert EmailAddress.objects.get().verified is False

    assert inside.get(link_in(message)).status_code == 200
    assert inside.post(link_in(message))["Location"] == reverse("account")

    assert EmailAddress.objects.get().verified


def test_another_address_takes_the_place_of_the_first(inside, ada, sent):
    inside.post(reverse("account_email"), {"email": "new@example.org", "action_add": ""})
    assert EmailAddress.objects.get(verified=True).email == "ada@example.org"

    inside.post(link_in(sent()[0]))

    assert EmailAddress.objects.get().email == "new@example.org"
    assert [message.to for message in sent()] == [["new@example.org"], ["ada@example.org"]]
    assert "took the place of this one" in sent()[1].body


@pytest.mark.parametrize(("verified", "told"), [(True, [["ada@example.org"]]), (False, [])])
def test_an_address_that_is_removed_is_told(inside, ada, sent, verified, told):
    EmailAddress.objects.update(verified=verified)

    inside.post(reverse("account_email"), {"email": "ada@example.org", "action_remove": ""})

    assert not EmailAddress.objects.exists()
    assert [message.to for message in sent()] == told


@pytest.mark.parametrize("act", ["action_add", "action_send"])
def test_nobody_has_many_mails_sent_to_others(inside, ada, sent, act):
    EmailAddress.objects.create(user=ada, email="eve@example.org")
    address = "eve@example.org" if act == "action_send" else "eve{}@example.org"
    for times in range(9):
        answer = inside.post(reverse("account_email"), {"email": address.format(times), act: ""}, follow=True)

    assert len(sent()) == 5
    assert "You had 5 mails sent. Try again in 60 minutes." in answer.content.decode()


@pytest.mark.parametrize("host", ["localhost", "testserver:9"])
def test_who_asks_for_a_mail_does_not_say_where_its_link_leads(inside, ada, sent, host):
    Client(headers={"host": host}).post(reverse(FORGOTTEN), {"email": "ada@example.org"})
    sent()
    inside.post(
        reverse("account_email"), {"email": "new@example.org", "action_add": ""}, headers={"host": host}
    )

    assert len([link_in(message) for message in sent()]) == 2


def test_a_found_session_changes_no_address(inside, ada, sent):
    confirm(inside, ada, seconds_ago=301)

    answer = inside.post(reverse("account_email"), {"email": "eve@example.org", "action_add": ""})

    for told in (answer, inside.get(reverse("account_email"))):
        assert told["Location"].startswith(reverse("account_reauthenticate"))
    assert sent() == []


def test_links_end_when_the_address_changes(ada, sent):
    ask("ada@example.org")
    link = link_in(sent()[0])
    EmailAddress.objects.create(user=ada, email="new@example.org")

    assert Client().get(link).status_code == 404


def test_the_person_is_told_what_an_administrator_does(ada, sent):
    password_links.make(User.objects.create_superuser("root"), ada)

    (message,) = sent()

    assert "root made a link for a new password of your account" in message.body


def test_without_a_server_for_mails_no_page_offers_any(ada, settings, inside):
    assert reverse(FORGOTTEN) in Client().get(reverse("account_login")).content.decode()
    settings.MAIL = None

    assert reverse(FORGOTTEN) not in Client().get(reverse("account_login")).content.decode()
    assert "Mail address" not in inside.get(reverse("account")).content.decode()
    assert Client().get(reverse(FORGOTTEN)).status_code == 404
    assert ask("ada@example.org").status_code == 404
    assert inside.get(reverse("account_email")).status_code == 404


@pytest.fixture
def origins(monkeypatch):
    monkeypatch.setenv("HAZEMAP_ORIGINS", "https://*.example.net, https://maps.example.org,https://b.example")


GIVEN = {"HOST": "mail.example", "FROM": "Hazemap <maps@example.org>", "USER": "u", "PASSWORD": "p"}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"HOST": ""}, "HAZEMAP_MAIL_USER needs HAZEMAP_MAIL_HOST"),
        ({"TLS": "ssl"}, "HAZEMAP_MAIL_TLS must be starttls or tls or none"),
        ({"PORT": "0"}, "HAZEMAP_MAIL_PORT"),
        ({"FROM": "maps"}, "HAZEMAP_MAIL_FROM"),
        ({"PASSWORD": ""}, "HAZEMAP_MAIL_USER and HAZEMAP_MAIL_PASSWORD_FILE need each other"),
        ({"PASSWORD_FILE": "/dev/null"}, "not both"),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch, origins, changed, named):
    for name, value in (GIVEN | changed).items():
        monkeypatch.setenv(f"HAZEMAP_MAIL_{name}", value)

    with pytest.raises(RuntimeError, match=named):
        server()


@pytest.mark.parametrize("told", ["", "https://*.example.org"])
def test_mails_need_an_address_of_this_server(monkeypatch, told):
    for name, value in GIVEN.items():
        monkeypatch.setenv(f"HAZEMAP_MAIL_{name}", value)
    monkeypatch.setenv("HAZEMAP_ORIGINS", told)

    with pytest.raises(RuntimeError, match="HAZEMAP_MAIL_HOST needs HAZEMAP_ORIGINS"):
        server()


def test_settings_of_a_server_for_mails(monkeypatch, origins):
    assert server() is None
    for name, value in (GIVEN | {"TLS": "tls"}).items():
        monkeypatch.setenv(f"HAZEMAP_MAIL_{name}", value)

    made = server()

    assert (made.host, made.port, made.password) == ("mail.example", 465, "p")
    assert made.origin == "https://maps.example.org"
    assert "password" not in repr(made)


def test_wrong_codes_are_told_when_the_tries_at_once_are_used_up_and_when_all_are(ada, sent):
    for _ in range(code_tries.MOST):
        code_tries.count_wrong(ada, "app")

    told = [message.body for message in sent()]

    assert len(told) == 2
    assert f"{code_tries.AT_ONCE} wrong app codes in a row" in told[0]
    assert f"{code_tries.MOST} wrong app codes in a row" in told[1]
