"""Every way through the product with keys alone: no mouse, no script clicks, and the focus always seen."""

import re

import pytest

from tests.browser.chromium import ENDED

pytestmark = [pytest.mark.browser]

MOST_TABS = 120
ROWS = "uid,latitude,spot\n" + "".join(f"p{at % 40},0.{at % 97:02},0.{at % 89:02}\n" for at in range(400))


class Keys:
    """A person who has no pointer. Every control that is reached shows that it has the focus."""

    def __init__(self, page):
        self.page = page
        # From the beginning: switched on with the wait for it, a chooser that opens at once is missed.
        page.on("filechooser", lambda _chooser: None)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.type(text)

    def to(self, wanted):
        """Tab to a control of the page; the locator names exactly one."""
        target = self.page.locator(wanted) if isinstance(wanted, str) else wanted
        target.wait_for()
        for _ in range(MOST_TABS):
            if target.evaluate("one => one === document.activeElement"):
                self.sees_focus()
                return target
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{wanted} is not reached by Tab")

    def sees_focus(self):
        shown = self.page.evaluate(SHOWN)
        assert shown, f"no visible focus on {self.page.evaluate('document.activeElement.outerHTML')[:200]}"

    def link(self, name):
        self.to(self.page.get_by_role("link", name=name, exact=True))
        self.press("Enter")

    def button(self, name):
        self.to(self.page.get_by_role("button", name=name, exact=True))
        self.press("Enter")

    def field(self, label, text):
        self.to(self.page.get_by_label(label, exact=True))
        self.press("Control+a")
        self.type(text)

    def choose(self, label, choice):
        """By the first letters of the choice."""
        box = self.to(self.page.get_by_label(label, exact=True))
        self.type(choice)
        assert box.evaluate("one => one.selectedOptions[0].text") == choice

    def heading(self, name):
        self.page.get_by_role("heading", name=name, exact=True).first.wait_for()


# An outline around the control, or around what stands for it (a choice's frame, a card).
SHOWN = """() => {
  for (let one = document.activeElement, up = 0; one && up < 4; one = one.parentElement, up += 1) {
    const style = getComputedStyle(one);
    if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) return true;
  }
  return false;
}"""


@pytest.fixture
def keys(open_page):
    return lambda **options: Keys(open_page(**options))


@pytest.fixture
def inside(keys, site):
    """Signed in by keys."""

    def make(**options):
        return enter(keys(**options), site.username, site.password)

    return make


def enter(person, username, password):
    person.page.goto("/")
    person.field("Username", username)
    person.field("Password", password)
    person.press("Enter")
    person.page.get_by_role("button", name="Sign out").wait_for()
    return person


def make_dataset(person, title, *, drawn=False):
    person.link("New dataset")
    person.field("Title", title)
    if drawn:
        person.field("Find a place", "Austin, US")
        person.press("Enter")
        person.page.get_by_text("a box was put around it").wait_for(state="attached")
    else:
        for side, value in {"West": "0", "South": "0", "East": "1", "North": "1"}.items():
            person.field(side, value)
    person.field("Limit of presence ε", "4")
    person.button("Make the dataset")
    person.heading(title)


@pytest.mark.long
def test_the_whole_way_is_walked_by_keys(inside, tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text(ROWS)
    person = inside()
    page = person.page
    make_dataset(person, "By keys")

    upload(person, path)
    person.press("Home")
    person.link("Ask for a map")
    person.field("ε of this release", "0.5")
    page.locator("#quote[data-epsilon='0.5']").wait_for()
    person.button("Spend and publish")
    page.locator("iframe").wait_for()

    look_at_map(person)
    table = page.get_by_role("table").first
    assert table.locator("tbody tr").count() >= 1
    person.to(page.get_by_text("Download", exact=True))
    person.press("Enter")
    with page.expect_download() as loaded:
        person.link("GeoJSON")
    assert loaded.value.suggested_filename.endswith(".geojson")

    person.link("In the ledger")
    page.locator("tbody").get_by_text("Release published").wait_for()
    person.link("Budget")
    person.link("Change limit of presence (ε)")
    person.field("New limit", "5")
    person.field("Reason", "walked by keys")
    person.button("Change limit")
    page.get_by_text("walked by keys").or_(page.get_by_role("heading", name="By keys")).first.wait_for()
    person.button("Sign out")
    person.heading("Sign in")


def upload(person, path):
    """The dialogue of files is the system's own; everything around it is ours."""
    page = person.page
    person.to(page.get_by_label("Choose files"))
    with page.expect_file_chooser() as chosen:
        person.press("Enter")
    chosen.value.set_files(path)
    longitude = person.to(page.get_by_label("Longitude"))
    person.type("spot")
    assert longitude.input_value() == "spot"
    person.button("Upload")
    page.locator(ENDED.format("ready")).wait_for()


def look_at_map(person):
    """The frame is entered, moved, zoomed and left by keys: it holds nobody."""
    page = person.page
    frame = page.frame_locator("iframe")
    ground = frame.locator(".leaflet-container")
    ground.wait_for()
    place = lambda: frame.locator(".leaflet-map-pane").evaluate("one => one.style.transform")  # noqa: E731
    width = lambda: frame.locator("img.heat").evaluate(  # noqa: E731
        "one => one.getBoundingClientRect().width"
    )
    tab_into(person, ground)
    moved_from, zoomed_from = place(), width()
    person.press("ArrowRight")
    page.wait_for_function(
        "was => document.querySelector('iframe').contentDocument"
        ".querySelector('.leaflet-map-pane').style.transform !== was",
        arg=moved_from,
    )
    person.press("+")
    page.wait_for_function(
        "was => document.querySelector('iframe').contentDocument"
        ".querySelector('img.heat').getBoundingClientRect().width > was * 1.1",
        arg=zoomed_from,
    )
    for _ in range(MOST_TABS):
        if page.evaluate(
            "document.activeElement.tagName !== 'IFRAME' && document.activeElement !== document.body"
        ):
            return
        person.press("Tab")
    raise AssertionError("the frame of the map keeps the focus")


def tab_into(person, target):
    for _ in range(MOST_TABS):
        if target.evaluate("one => one === document.activeElement && document.hasFocus()"):
            return
        person.press("Tab")
    raise AssertionError("the map in the frame is not reached by Tab")


@pytest.mark.long
def test_every_control_shows_that_it_has_the_focus(inside):
    """A region is found without drawing; then all the way round, on the pages with most controls."""
    person = inside()
    page = person.page
    make_dataset(person, "Round and round", drawn=True)
    for address in ("/datasets/", "/datasets/new/", "/datasets/round-and-round/data/", "/help/", "/account/"):
        page.goto(address)
        seen = set()
        for _ in range(MOST_TABS):
            person.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
            person.sees_focus()
            seen.add(page.evaluate("document.activeElement.outerHTML"))
        else:
            raise AssertionError(f"Tab never leaves {address}")
        assert len(seen) > 3


@pytest.mark.parametrize("address", ["/datasets/new/", "/sign-in/"])
def test_a_refused_form_takes_the_focus_to_what_is_wrong(signed_in, keys, address):
    person = keys() if address == "/sign-in/" else Keys(signed_in())
    page = person.page
    page.goto(address)
    if address == "/sign-in/":
        person.field("Username", "nobody")
        person.field("Password", "nothing")
        person.press("Enter")
    else:
        person.button("Make the dataset")
    summary = page.locator(".note.bad[role=alert]")
    summary.wait_for()
    page.wait_for_function("document.activeElement.matches('.note.bad[role=alert]')")
    assert re.search(r"\w", summary.inner_text())


@pytest.mark.long
def test_an_upload_is_undone_and_people_are_left_out_by_keys(inside, tmp_path):
    path = tmp_path / "undone.csv"
    path.write_text(ROWS)
    person = inside()
    page = person.page
    make_dataset(person, "Undone by keys")
    person.to(page.get_by_label("Choose files"))
    with page.expect_file_chooser() as chosen:
        person.press("Enter")
    chosen.value.set_files(path)
    person.to(page.get_by_label("Longitude"))
    person.type("spot")
    person.to(page.get_by_label(re.compile("^Make it available")))
    person.press("Space")
    person.button("Upload")
    page.locator(ENDED.format("ready")).wait_for()

    person.to(page.get_by_text("Undo this upload"))
    person.press("Enter")
    person.button("Delete the rows of undone.csv")
    page.locator(ENDED.format("undone")).wait_for()

    person.to(page.get_by_text("Leave people out"))
    person.press("Enter")
    person.to(page.get_by_label("Users, as the files name them"))
    person.type("p1")
    person.press("Enter")
    person.type("p2")
    person.button("Leave these people out")
    page.get_by_text("2 opt-outs will take effect").wait_for()


@pytest.mark.long
def test_people_allowances_and_public_maps_are_managed_by_keys(inside, keys, site, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    words = (site.installation.folder / "credentials-administrator").read_text().splitlines()
    administrator = enter(keys(), **dict(line.split("=", 1) for line in words))
    newcomer = newcomer_by_link(invitation_by_keys(administrator), keys)
    person = inside()
    page = person.page
    make_dataset(person, "People by keys")
    upload(person, path)
    person.press("Home")
    person.link("Ask for a map")
    person.field("ε of this release", "0.5")
    page.locator("#quote[data-epsilon='0.5']").wait_for()
    person.button("Spend and publish")
    page.locator("iframe").wait_for()
    release = page.url

    person.link("People by keys")
    person.link("People")
    person.field("Username", "keyed")
    person.button("Add")
    person.link("Role of keyed")
    person.choose("Role", "Auditor")
    person.button("Change the role")
    page.get_by_role("row", name=re.compile("keyed.*Auditor")).first.wait_for()
    person.button("Make a link")
    person.heading("The new link")
    person.link("Done")
    person.to(page.get_by_role("button", name=re.compile("^Take back")))
    person.press("Enter")
    page.get_by_text("is withdrawn").wait_for()

    person.link("Budget")
    person.link("Allowances")
    person.field("Amount", "1.5")
    person.field("Reason", "a share each")
    person.button("Change allowance")
    page.get_by_role("row").filter(has_text="everyone else").get_by_text("1.5").wait_for()

    page.goto(release)
    person.link("Make it public")
    person.button("Make it public")
    page.get_by_text("Anyone can read this map now.").wait_for()
    newcomer.to(newcomer.page.get_by_role("navigation").get_by_role("link", name="Public maps"))
    newcomer.press("Enter")
    newcomer.link("People by keys")
    newcomer.page.locator("iframe").wait_for()


def invitation_by_keys(administrator):
    """The address of a link for a new account."""
    administrator.link("People")
    administrator.button("Make a link")
    administrator.heading("The new link")
    return administrator.to(administrator.page.get_by_label("Link", exact=True)).input_value()


def newcomer_by_link(address, keys):
    newcomer = keys()
    newcomer.page.goto(address)
    newcomer.field("Username", "keyed")
    newcomer.field("Password", "long enough to pass")
    newcomer.field("Password again", "long enough to pass")
    newcomer.button("Create account")
    newcomer.heading("Welcome to Hazemap")
    return newcomer
