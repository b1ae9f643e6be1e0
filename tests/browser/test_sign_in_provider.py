"""Signing in with a provider in Chromium: there and back, with what browsers forbid, and as people see it."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.chromium import PATIENCE_MS
from tests.browser.test_accessibility import NARROW_DARK, WIDE_LIGHT, faults
from tests.services.programs import free_port
from tests.services.provider import PASSWORD, Provider

pytestmark = [pytest.mark.browser, pytest.mark.long]

NAME = "Example University"


@pytest.fixture(scope="module")
def server(tmp_path_factory, world):
    """A server and its provider: (address, provider, what `provider_people` made)."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    folder = tmp_path_factory.mktemp("provider")
    with Provider.started(folder, f"{address}/sign-in/provider/answer/") as provider:
        facts = {"settings": "tests.services.patient", "others": provider.environment}
        made = world.installation(folder, **facts)
        people = made.script("provider_people", package="tests.browser")
        with made.serving(port=port):
            yield address, provider, people


@pytest.fixture
def visitor(chromium, server):
    """A page of its own context; at the end no policy was violated."""
    contexts, complaints = [], []

    def make():
        context = chromium.new_context(base_url=server[0], reduced_motion="reduce")
        contexts.append(context)
        context.on("console", lambda message: complaints.append(message.text))
        context.add_init_script(AXE_SCRIPT)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page

    yield make
    for context in contexts:
        context.close()
    assert [told for told in complaints if "Security Policy" in told] == []


def at_the_provider(page, person, choice="Allow"):
    page.get_by_label("Username").fill(person)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name=choice).click()


def enter_password(page, name, password):
    page.goto("/sign-in/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for()


def is_inside(page, name):
    page.get_by_role("button", name="Sign out").wait_for()
    assert page.locator(".who-name").inner_text().endswith(name)


def look(page):
    assert faults(page, WIDE_LIGHT, NARROW_DARK) == []


def test_an_invitation_leads_a_new_person_in_and_the_button_back(visitor, server):
    page = visitor()
    page.goto(f"/invitations/{server[2]['invitation']}/")
    look(page)
    page.get_by_role("button", name=f"Go on with {NAME}").click()
    at_the_provider(page, "anna")
    page.get_by_role("heading", name="Choose a name").wait_for()
    look(page)
    assert page.get_by_label("Username").input_value() == "anna"
    page.get_by_label("Username").fill("steward-of-here")
    page.get_by_role("button", name="Create account and accept").click()
    page.get_by_text("taken").wait_for()
    page.get_by_label("Username").fill("anna-of-here")
    page.get_by_role("button", name="Create account and accept").click()
    is_inside(page, "anna-of-here")
    page.goto("/datasets/walks/")
    page.goto("/account/second-factor/app/")  # asks again: by the provider, who has no password here
    page.get_by_role("heading", name="Confirm that it is you").wait_for()
    look(page)
    page.get_by_role("button", name=f"Go to {NAME}").click()
    at_the_provider(page, "anna")
    page.get_by_role("heading", name="Set up an app").wait_for()
    page.get_by_role("button", name="Sign out").click()

    page.get_by_role("button", name=f"Sign in with {NAME}").click()
    page.get_by_role("button", name="Allow").click()  # who one is, the provider still knows
    is_inside(page, "anna-of-here")


def test_whoever_is_unknown_is_told_what_to_do(visitor):
    page = visitor()
    page.goto("/sign-in/")
    look(page)
    page.get_by_role("button", name=f"Sign in with {NAME}").click()
    at_the_provider(page, "ben")
    page.get_by_role("heading", name="No account here").wait_for()
    look(page)
    page.get_by_role("main").get_by_role("link", name="Sign in").click()
    page.get_by_role("button", name=f"Sign in with {NAME}").click()
    page.get_by_role("button", name="Refuse").click()
    page.get_by_text("the request was refused there").wait_for()
    look(page)
    page.goto("/account/")
    page.get_by_role("heading", name="Sign in").wait_for()


def test_an_account_is_linked_after_two_pages_and_unlinked(visitor, server):
    page, password = visitor(), server[2]["password"]
    enter_password(page, "ben-of-here", password)
    page.goto("/account/")
    look(page)
    page.get_by_role("link", name=f"Link {NAME}").click()
    page.get_by_role("heading", name="Confirm that it is you").wait_for()
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name=f"Go to {NAME}").wait_for()
    look(page)
    page.get_by_role("button", name=f"Go to {NAME}").click()
    at_the_provider(page, "ben")
    page.get_by_role("heading", name="Link this person?").wait_for()
    look(page)
    page.get_by_role("button", name="Link").click()
    page.get_by_text(f"You can sign in with {NAME} from now on").wait_for()

    other = visitor()
    other.goto("/sign-in/?next=/account/")
    other.get_by_role("button", name=f"Sign in with {NAME}").click()
    at_the_provider(other, "ben")
    other.get_by_role("heading", name="Your account").wait_for()
    is_inside(other, "ben-of-here")

    page.goto("/account/")
    page.get_by_role("link", name="Remove the link").click()
    page.get_by_role("heading", name="Remove the link").wait_for()
    look(page)
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("The link is removed").wait_for()
    page.get_by_role("link", name=f"Link {NAME}").wait_for()


def test_a_second_factor_is_asked_for_after_the_provider(visitor, server):
    people = server[2]
    page = visitor()
    page.goto("/sign-in/")
    page.get_by_label("Username").fill("cleo-of-here")
    page.get_by_label("Password").fill(people["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("Code").fill(people["codes"][0])
    page.get_by_role("button", name="Sign in", exact=True).click()
    is_inside(page, "cleo-of-here")
    page.goto("/account/provider/")
    page.get_by_label("Password").fill(people["password"])
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name=f"Go to {NAME}").click()
    at_the_provider(page, "cleo")
    page.get_by_role("button", name="Link").click()

    other = visitor()
    other.goto("/sign-in/")
    other.get_by_role("button", name=f"Sign in with {NAME}").click()
    at_the_provider(other, "cleo")
    other.get_by_role("heading", name="Enter a code").wait_for()
    assert other.get_by_role("button", name="Sign out").count() == 0
    other.get_by_label("Code").fill(people["codes"][1])
    other.get_by_role("button", name="Sign in", exact=True).click()
    is_inside(other, "cleo-of-here")
