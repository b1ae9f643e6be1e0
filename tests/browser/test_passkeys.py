"""Passkeys in Chromium, with an authenticator that it plays itself: added, used, wrong, removed."""

import base64
from dataclasses import dataclass

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.browser.test_accessibility import NARROW_DARK, WIDE_LIGHT, faults

pytestmark = [pytest.mark.browser]

CANCELLED = "No passkey was used"


@dataclass(kw_only=True)
class Device:
    """What holds passkeys, in a browser of its own."""

    page: object
    client: object
    number: str

    @property
    def passkeys(self):
        asked = {"authenticatorId": self.number}
        return self.client.send("WebAuthn.getCredentials", asked)["credentials"]

    def give(self, passkey):
        self.client.send("WebAuthn.addCredential", {"authenticatorId": self.number, "credential": passkey})

    def knows_its_owner(self, verified):
        asked = {"authenticatorId": self.number, "isUserVerified": verified}
        self.client.send("WebAuthn.setUserVerified", asked)


@pytest.fixture
def new_device(open_page, site):
    """A page at the name of this machine, with an authenticator that holds nothing yet."""

    def make():
        page = open_page(address=site.address.replace("127.0.0.1", "localhost"))
        client = page.context.new_cdp_session(page)
        client.send("WebAuthn.enable")
        has = ("hasResidentKey", "hasUserVerification", "isUserVerified", "automaticPresenceSimulation")
        options = {"protocol": "ctap2", "transport": "internal"} | dict.fromkeys(has, True)
        made = client.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        page.goto("/sign-in/")
        return Device(page=page, client=client, number=made["authenticatorId"])

    return make


@pytest.fixture
def person(site):
    made = []

    def make(name):
        made.append(site.installation.script("somebody", name, package="tests.browser"))
        return made[-1]

    return make


def enter_password(page, person):
    page.get_by_label("Username").fill(person["name"])
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()


def confirm(page, person):
    page.get_by_role("heading", name="Confirm that it is you").wait_for()
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Confirm").click()


def add(page, person, name="My phone"):
    page.get_by_role("link", name=person["name"]).click()
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_role("link", name="Add a passkey").click()
    confirm(page, person)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add it").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()


def inside(page):
    page.get_by_role("button", name="Sign out").wait_for()


def sign_out(page):
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()


def test_a_passkey_is_a_second_factor_and_a_way_in_by_itself(new_device, person, site):
    device, holder = new_device(), person("holder")
    page = device.page
    enter_password(page, holder)
    inside(page)
    add(page, holder)
    assert len(device.passkeys) == 1
    sign_out(page)

    enter_password(page, holder)
    page.get_by_role("button", name="Use a passkey").click()
    inside(page)
    sign_out(page)

    page.get_by_role("button", name="Sign in with a passkey").click()
    inside(page)
    assert page.get_by_role("link", name="holder").count() == 1

    page.get_by_role("link", name="holder").click()
    page.get_by_role("link", name="See or change them").click()
    row = page.get_by_role("row", name="My phone")
    assert "not yet" not in row.inner_text()
    page.get_by_role("link", name="Rename").click()
    page.get_by_role("link", name="Use a passkey").click()
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_label("Name").fill("<b>Old</b> phone")
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("row", name="<b>Old</b> phone").wait_for()
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("None yet.").wait_for()
    sign_out(page)

    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("This passkey was not accepted").wait_for()


@pytest.mark.long
def test_what_is_cancelled_foreign_or_without_an_owner_lets_nobody_in(new_device, person):
    """A device holds a passkey that its owner made elsewhere, or does not know who holds it."""
    device, other, holder = new_device(), new_device(), person("careful")
    page = device.page
    enter_password(page, holder)
    inside(page)
    add(page, holder)
    sign_out(page)

    device.knows_its_owner(False)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text(CANCELLED).wait_for()
    device.knows_its_owner(True)

    other.page.get_by_role("button", name="Sign in with a passkey").click()
    other.page.get_by_text(CANCELLED).wait_for()
    other.give(device.passkeys[0] | {"privateKey": another_key()})
    other.page.get_by_role("button", name="Sign in with a passkey").click()
    other.page.get_by_text("This passkey was not accepted").wait_for()
    enter_password(other.page, holder)
    other.page.get_by_role("button", name="Use a passkey").click()
    other.page.get_by_text("This passkey was not accepted").wait_for()
    assert other.page.get_by_role("button", name="Sign out").count() == 0


def another_key():
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return base64.b64encode(key).decode()


def test_at_a_number_pages_say_what_is_missing(signed_in, open_page):
    visitor = open_page()
    visitor.goto("/sign-in/")
    visitor.get_by_text("Forgot your password?").wait_for()
    assert visitor.get_by_role("button", name="passkey").count() == 0
    page = signed_in()
    page.goto("/account/passkeys/")
    page.get_by_text("Passkeys need a name in the address, such as localhost").wait_for()
    assert page.get_by_role("link", name="Add a passkey").count() == 0


@pytest.mark.long
def test_axe_finds_nothing_on_the_pages_of_passkeys(new_device, person):
    device, holder, found = new_device(), person("looker"), {}
    page = device.page
    page.add_init_script(AXE_SCRIPT)
    page.goto("/sign-in/")

    def look(name):
        if fault := faults(page, WIDE_LIGHT, NARROW_DARK):
            found[name] = fault

    look("sign in")
    enter_password(page, holder)
    inside(page)
    page.goto("/account/passkeys/new/")
    confirm(page, holder)
    page.get_by_role("button", name="Add it").wait_for()
    look("add")
    page.get_by_role("button", name="Add it").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()
    page.goto("/account/passkeys/")
    look("list")
    page.goto("/account/")
    look("account")
    sign_out(page)
    enter_password(page, holder)
    page.get_by_role("button", name="Use a passkey").wait_for()
    look("second factor")
    device.knows_its_owner(False)
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_text(CANCELLED).wait_for()
    look("refused")
    device.knows_its_owner(True)
    page.get_by_role("button", name="Use a passkey").click()
    inside(page)
    page.goto("/account/confirm/passkey/?next=/account/passkeys/")
    look("confirm")
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_role("heading", name="Passkeys").wait_for()
    for link in ("Rename", "Remove"):
        page.goto("/account/passkeys/")
        page.get_by_role("link", name=link).click()
        page.get_by_role("button", name=link).wait_for()
        look(link)
    assert found == {}
