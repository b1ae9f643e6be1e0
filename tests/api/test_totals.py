"""One amount is one text on every page: rounded in one direction, exact in the API and on demand."""

import re

from django.urls import reverse

from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.pages.word_count import words_of

PAGES = ("dataset", "dataset-releases", "dataset-budget", "spending", "allowances", "ledger")
EPSILON = "0.333333333333"
LONG = re.compile(r"\d\.\d{7,}")


def test_pages_show_the_same_totals_and_no_long_number(api, client_of, people, dataset):
    for resolution in (16, 32):
        asked = ReleaseRequest(mechanism="sparse-emd", epsilon=EPSILON, resolution=resolution)
        lifecycle.request_release(people["analyst"], dataset, asked)
    steward = client_of("steward")
    addresses = {name: reverse(name, args=[dataset.slug]) for name in PAGES}
    addresses["limit"] = reverse("limit-change", args=[dataset.slug, "presence"])
    texts = {
        name: " ".join(words_of(steward.get(address).content.decode())) for name, address in addresses.items()
    }
    account, *_ = api("auditor").send("GET", "budget", dataset.slug).json()["accounts"]

    assert (account["committed"], account["limit"]) == ("0.666666666666", "2")
    assert account["available"] == "1.333333333334"
    assert {name: LONG.findall(text) for name, text in texts.items() if LONG.search(text)} == {}
    assert all("0.6667" in texts[name] for name in ("dataset-budget", "spending", "limit"))
    assert all("1.333" in texts[name] for name in ("dataset-budget", "limit"))
    assert all("0.6666" not in text for text in texts.values())
