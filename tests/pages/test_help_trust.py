"""The table of who is trusted, from the catalogue: every mechanism has its line."""

import re

from django.urls import reverse

from heatmaps.wording.choosing import who
from mechanisms.catalogue import entries
from mechanisms.local import choices

ROW = re.compile(r'<td data-label="Its name"><code>([\w-]+)</code></td><td data-label="Trusted">([^<]+)</td>')


def test_help_says_of_every_mechanism_who_is_trusted(client_of):
    rows = ROW.findall(client_of("anonymous").get(reverse("help")).content.decode())
    released = entries()
    assert [name for name, _ in rows] == [entry.name for entry in (*released, *choices.entries())]
    said = dict(rows[: len(released)])
    assert said["adaptive"] == "This server."
    assert said["rr-shuffle"].endswith("on people’s devices a shuffler only.")
    assert said["geo-local"].endswith("on people’s devices nobody.")
    assert {text for _, text in rows[len(released) :]} == {
        "Nobody, where the device blurs by itself; this server, where it blurs a file."
    }
    simulated = {entry.name for entry in released if entry.simulates_shuffling or entry.simulates_devices}
    assert all("simulates" in who(entry) for entry in released if entry.name in simulated)
