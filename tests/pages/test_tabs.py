"""A dataset's tabs: who may open which, what each is about, and nothing of a release before its moment."""

import re

import pytest
from django.urls import reverse

from heatmaps.ledger import transitions
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.services.draws import carry_out

TABS = {
    "Map": "dataset",
    "Releases": "dataset-releases",
    "Data": "dataset-data",
    "Budget": "dataset-budget",
    "People": "people",
    "Ledger": "ledger",
}
# Pages inside a tab, and the tab that their crumbs lead back to.
INSIDE = {
    **dict.fromkeys(("schedule", "retention", "embedding", "districts", "blur"), "dataset-data"),
    **dict.fromkeys(("allowances", "spending"), "dataset-budget"),
}


def page(client, name, dataset, *arguments):
    return client.get(reverse(name, args=[dataset.slug, *arguments])).content.decode()


def tabs_of(body):
    """(title, address, whether it is the page) of each tab."""
    nav = re.search(r'<nav class="tabs".*?</nav>', body, re.DOTALL)[0]
    found = re.findall(r'<a href="([^"]+)"( aria-current="page")?>([^<]+)</a>', nav)
    return [(title, address, bool(current)) for address, current, title in found]


@pytest.mark.parametrize(
    ("person", "titles"),
    [
        ("steward", list(TABS)),
        ("auditor", list(TABS)),
        ("administrator", list(TABS)),
        ("analyst", list(TABS)[:-1]),
    ],
)
def test_each_person_has_the_tabs_that_may_be_opened(client_of, dataset, person, titles):
    client = client_of(person)
    addresses = [reverse(TABS[title], args=[dataset.slug]) for title in titles]
    for title, address in zip(titles, addresses, strict=True):
        answer = client.get(address)
        assert answer.status_code == 200

        tabs = [(each, link, each == title) for each, link in zip(titles, addresses, strict=True)]
        assert tabs_of(answer.content.decode()) == tabs


@pytest.mark.parametrize(
    ("person", "buttons"),
    [("steward", ("Add data", "New release")), ("analyst", ("New release",) * 2), ("auditor", ("", ""))],
)
def test_the_main_button_is_the_next_step(client_of, make_dataset, dataset, person, buttons):
    for shown, wanted in zip((make_dataset("bare"), dataset), buttons, strict=True):
        head = page(client_of(person), "dataset-releases", shown).split('<nav class="tabs"')[0]
        assert re.findall(r'class="button main"[^>]*>([^<]+)<', head) == ([wanted] if wanted else [])


@pytest.mark.parametrize("name", INSIDE)
def test_pages_inside_a_tab_lead_back_to_it(client_of, dataset, name):
    crumbs = re.search(r'<nav class="crumbs".*?</nav>', page(client_of("steward"), name, dataset), re.DOTALL)

    assert f'href="{reverse(INSIDE[name], args=[dataset.slug])}"' in crumbs[0]


@pytest.mark.parametrize("person", ["steward", "analyst", "auditor"])
def test_no_map_is_shown_before_its_moment(client_of, dataset, queued, person):
    client = client_of(person)
    before = page(client, "dataset", dataset)
    transitions.spend(queued.pk)

    assert "<iframe" not in before
    assert str(queued.pk) not in before
    assert re.sub(r'(nonce|value)="[^"]+"', "", page(client, "dataset", dataset)) == re.sub(
        r'(nonce|value)="[^"]+"', "", before
    )


def test_the_newest_map_comes_first_and_six_others_beside_it(client_of, people, dataset, monkeypatch):
    monkeypatch.setattr("heatmaps.views.dataset.map_tab.OTHER_MAPS", 2)
    made = []
    for epsilon in ("0.1", "0.2", "0.3", "0.4"):
        request = ReleaseRequest(mechanism="laplace", epsilon=epsilon, resolution=16)
        made.append(lifecycle.request_release(people["analyst"], dataset, request).pk)
        carry_out(made[-1])
    body = page(client_of("auditor"), "dataset", dataset)

    assert re.findall(r'<iframe[^>]*src="([^"]+)"', body) == [reverse("release-map", args=[made[3]])]
    pictures = [reverse("release-thumbnail", args=[release]) for release in (made[2], made[1])]
    assert re.findall(r'<img src="(/releases/[^"]+)"', body) == pictures


@pytest.mark.parametrize(
    ("person", "step"), [("steward", "Add data"), ("analyst", "No data yet"), ("auditor", "No data yet")]
)
def test_without_data_the_region_is_drawn_with_the_next_step(client_of, make_dataset, person, step):
    bare = make_dataset("bare")
    body = page(client_of(person), "dataset", bare)
    left, top, width, height = map(
        float, re.search(r'<rect .* x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"', body).groups()
    )
    across, down = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', body).groups())

    assert step in body
    assert left == pytest.approx((across - width) / 2, abs=1)
    assert top == pytest.approx((down - height) / 2, abs=1)
    assert 0.5 < max(width / across, height / down) < 0.7  # some of its surroundings are seen


def test_with_data_the_first_map_is_asked_for(client_of, dataset):
    assert "Ask for the first map" in page(client_of("analyst"), "dataset", dataset)
    assert "Ask for the first map" not in page(client_of("auditor"), "dataset", dataset)


def test_releases_are_listed_by_kind(client_of, panel, people, queued, dataset):
    body = page(client_of("analyst"), "dataset-releases", dataset)
    assert "?kind=" not in body  # there is one kind

    for mechanism, resolution in (("laplace", 16), ("emd-linear", None)):
        request = ReleaseRequest(mechanism=mechanism, epsilon="0.5", resolution=resolution)
        lifecycle.request_release(people["analyst"], panel, request)
    client, address = client_of("analyst"), reverse("dataset-releases", args=[panel.slug])
    kinds = re.findall(r"\?kind=(\w+)", client.get(address).content.decode())
    assert len(kinds) == 2
    for kind in kinds:
        assert len(client.get(address, {"kind": kind}).context["lines"]) == 1
    assert len(client.get(address, {"kind": "nonsense"}).context["lines"]) == 2


def test_an_auditor_verifies_and_downloads_the_ledger_within_three_clicks_from_home(
    client_of, published, dataset, monkeypatch
):
    monkeypatch.setattr("heatmaps.views.budget.ledger.VERIFIED_UNASKED", 0)
    client, seen = client_of("auditor"), []
    body = client.get(reverse("home"), follow=True).content.decode()
    for link in (
        reverse("dataset", args=[dataset.slug]),
        reverse("ledger", args=[dataset.slug]),
    ):
        assert f'href="{link}"' in body
        body = client.get(link).content.decode()
        seen.append(link)

    assert len(seen) == 2
    assert f'href="{reverse("ledger-file", args=[dataset.slug, "json"])}"' in body
    assert 'href="?verify=1"' in body
    assert "The chain verifies" in client.get(seen[-1], {"verify": "1"}).content.decode()


def test_the_ledger_tells_periods_and_places_in_words(client_of, people, dataset):
    part = {"since": "2026-03-01", "until": "2026-04-01", "rectangle": [0.25, 0.25, 0.75, 0.75]}
    request = ReleaseRequest(mechanism="laplace", epsilon="0.5", resolution=16, **part)
    lifecycle.request_release(people["analyst"], dataset, request)
    body = page(client_of("auditor"), "ledger", dataset)

    assert 'from:</span> <time datetime="2026-03-01T00:00Z">' in body
    assert 'before:</span> <time datetime="2026-04-01T00:00Z">' in body
    assert re.search(r"part of the region:</span> latitude [\d.]+° to [\d.]+°, longitude", body)
    assert "relation:</span> add or remove" in body
    for raw in ("1772323200", "add_remove", "guarantee:", "sha256", "2026-03-01T00:00:00"):
        assert raw not in re.sub(r"<(form|input|option).*?>", "", body), raw
