"""What readers of a released map come for: the value of a place, and the people in a district, with errors.

By pointer and by keyboard, in the frame of a release of Austin.
"""

import json

CENTRE = 0.56, 0.61  # of the crowd, in the region's width and height from the top left
NEAR = 60  # pixels: more than half of the 80 by which a key moves the map, so that the walk ends
DISTRICT = {"type": "Polygon", "coordinates": [[[-97.9, 30.1], [-97.6, 30.1], [-97.6, 30.45], [-97.9, 30.1]]]}


def find_what_readers_come_for(page):
    """On the page of a release that was just opened: a map that was moved may show a part of its region."""
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.locator("iframe").element_handle().content_frame()
    wait_for_the_map(frame)
    value_of_a_place_by_pointer(frame)
    people_in_a_box_by_pointer(frame)
    people_in_stored_districts_by_pointer(frame)
    people_in_a_district_by_keyboard(frame)
    value_of_a_place_by_keyboard(frame)


def wait_for_the_map(frame):
    """Until the heat is drawn, and lies in the region's border: the zoom to the region has ended."""
    frame.wait_for_function("""() => {
      const [border, heat] = [".region-border", "img.heat[src^='data:image/png']"].map(
        (one) => document.querySelector(one)?.getBoundingClientRect());
      return border && heat && heat.width > 50 && ["left", "top", "right", "bottom"].every(
        (side) => Math.abs(heat[side] - border[side]) < 4);
    }""")


def value_of_a_place_by_pointer(frame):
    read = frame.locator(".readout b").last
    frame.page.mouse.move(*point(frame, *CENTRE))
    assert certain(density(read))


def value_of_a_place_by_keyboard(frame):
    """To the crowd and closer, step by step: the value in the middle is said each time the map moves, and
    stays whatever passes under a pointer that rests."""
    resting = point(frame, 0.25, 0.25)
    frame.page.mouse.move(*resting)
    frame.locator(".leaflet-container").focus()
    read, said = frame.locator(".readout b").last, frame.locator(".spoken")
    frame.evaluate(COUNT_SAID)
    for _ in range(3):
        before = frame.page.evaluate(VIEW)
        frame.page.keyboard.press("+")
        frame.page.wait_for_function(f"before => ({VIEW}) !== before", arg=before)
        frame.wait_for_function(AT_REST)
        while key := next_step(frame):
            count = frame.evaluate("window.timesSaid")
            frame.page.keyboard.press(key)
            frame.wait_for_function("before => window.timesSaid > before", arg=count)
            frame.wait_for_function(AT_REST)
            assert frame.evaluate("window.timesSaid") == count + 1
    frame.page.mouse.move(*resting)
    assert certain(density(read))
    assert density(read) in said.inner_text()


def next_step(frame):
    """The arrow key that brings the crowd closer to the middle of the map, none where it is near."""
    shown = frame.locator(".leaflet-container").bounding_box()
    heat = frame.locator("img.heat").bounding_box()  # as large as the region, also where that is not seen
    right, down = (
        heat[side] + share * heat[size] - shown[side] - shown[size] / 2
        for side, size, share in (("x", "width", CENTRE[0]), ("y", "height", CENTRE[1]))
    )
    if max(abs(right), abs(down)) <= NEAR:
        return None
    if abs(right) > abs(down):
        return "ArrowRight" if right > 0 else "ArrowLeft"
    return "ArrowDown" if down > 0 else "ArrowUp"


def people_in_stored_districts_by_pointer(frame):
    open_panel(frame)
    frame.get_by_role("button", name="Add Halves").click()
    row = frame.locator(".sums tbody tr").filter(has_text="East")
    row.wait_for()
    east = row.locator("th, td").all_inner_texts()
    assert certain(f"{east[1]} ± {east[2]}")
    frame.get_by_role("button", name="Remove all").click()


def people_in_a_district_by_keyboard(frame):
    open_panel(frame)
    frame.get_by_label("Areas as GeoJSON").fill(json.dumps(DISTRICT))
    frame.page.keyboard.press("Tab")
    frame.page.keyboard.press("Enter")
    frame.locator(".sums tbody tr").wait_for()
    name, value, error, share, _ = frame.locator(".sums tbody tr").locator("th, td").all_inner_texts()
    assert name == "Area 1"
    assert certain(f"{value} ± {error}")
    assert 0 < float(share.removesuffix(" %")) < 100
    frame.get_by_role("button", name="Remove all").press("Enter")


def people_in_a_box_by_pointer(frame):
    open_panel(frame)
    frame.get_by_role("button", name="Draw a box").click()
    mouse, (x, y) = frame.page.mouse, point(frame, *CENTRE)
    mouse.move(x - 25, y - 25)
    mouse.down()
    mouse.move(x + 20, y + 20, steps=4)
    mouse.move(x + 25, y + 25)
    mouse.up()
    told = frame.locator(".sums .told", has_text="Box 1: ")
    assert certain(told.inner_text().removeprefix("Box 1: ").split(" people")[0])
    frame.get_by_role("button", name="Remove all").click()
    frame.get_by_text("People in an area").click()


def open_panel(frame):
    if not frame.get_by_label("Areas as GeoJSON").is_visible():
        frame.get_by_text("People in an area").press("Enter")


def density(read):
    """Without the name of the place before it."""
    return read.inner_text().removesuffix(" people per km²").split(":")[-1].strip()


def certain(words):
    """Whether a value is stated with an error that does not drown it."""
    value, error = (float(part.replace(",", "")) for part in words.split(" ± "))
    return 0 < error < 2 * value


def point(frame, x, y):
    """Where on the page a share of the region's width and height lies."""
    box = frame.locator(".region-border").bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


DOCUMENT = "document.querySelector('iframe').contentDocument"
# What changes when the map is zoomed.
VIEW = (
    f"{DOCUMENT}.querySelector('.region-border').ownerSVGElement.getAttribute('viewBox')"
    f" + {DOCUMENT}.querySelector('.leaflet-control-scale-line').textContent"
)
AT_REST = "() => !document.querySelector('.leaflet-zoom-anim, .leaflet-pan-anim')"
COUNT_SAID = """() => {
  window.timesSaid = 0;
  const said = new MutationObserver(() => { window.timesSaid += 1; });
  said.observe(document.querySelector(".spoken"), { childList: true });
}"""
