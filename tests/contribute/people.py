"""What people do on the contributors' page."""

import re
import time

PLACE = ("52.51637", "13.37770")


def fill(page, place=PLACE):
    page.get_by_label("Latitude").fill(place[0])
    page.get_by_label("Longitude").fill(place[1])
    page.get_by_label("I want to send").check()


def send(page, place=PLACE):
    fill(page, place)
    page.get_by_role("button", name="Blur and send").click()


MONTH = 30 * 24 * 3600  # of a round: a report's random moment lies in its first minute once in 40,000 times


def open_link(page, link):
    """On a clock that a test may put forward."""
    page.clock.install(time=time.time())
    page.goto(link)


def wait_until_sent(page):
    """As somebody who has a month."""
    wait_for_title(page, "Will be sent at about")
    page.clock.fast_forward(1000 * MONTH)
    wait_for_title(page, "Sent")


def send_soon(page):
    """Of one who waits."""
    page.get_by_role("button", name="Send within the next minute").click()
    page.clock.fast_forward(61_000)  # by a month, and the round would be over


def wait_for_title(page, words):
    page.locator("#sending-title", has_text=re.compile(f"^{words}")).wait_for()


def records(page):
    """What the device keeps, packets as lists of bytes."""
    return page.evaluate(
        """async () => {
          const { allRecords } = await import("./odometer.js");
          return (await allRecords()).map(({ packet, ...rest }) => (
            packet ? { ...rest, packet: Array.from(new Uint8Array(packet)) } : rest));
        }"""
    )
