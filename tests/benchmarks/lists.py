"""Lists and pages of an installation with many datasets and releases, beside a bare Django view.

The view is behind the same sign-in and answers JSON of as many bytes. In CPU seconds of a request, by
Django's test client in this process; queries are counted once. In a process with `tests.benchmarks.settings`.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

from heatmaps.ledger import transitions
from heatmaps.models import ApiToken, Dataset, Result
from heatmaps.releases import lifecycle
from tests.benchmarks.measure import Figure, Size, Unit, compare
from tests.services import draws, seed

RELEASES: Final = {Size.TINY: (1, 3), Size.USUAL: (5, 500), Size.LARGE: (5, 500)}
DATASETS: Final = {Size.TINY: 2, Size.USUAL: 50, Size.LARGE: 50}
REPEATS: Final = 7
BARE: Final = "a bare view of as many bytes of JSON"
BARE_MIDDLEWARE: Final = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "tests.benchmarks.bare_views.with_these_addresses",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Holds three clients: of pages, signed in; of the API, with a token alone, as programs have; and of the
    bare view, signed in."""

    pages: Client
    api: Client
    bare: Client

    def figures(self, key: str, name: str, address: str, repeats: int) -> Iterator[Figure]:
        """Time and queries of an address."""
        ours = self.api if address.startswith("/api/") else self.pages
        size = len(get(ours, address))
        bare = f"/bare/{size}/"
        yield compare(
            name,
            lambda: get(ours, address),
            BARE,
            lambda: get(self.bare, bare),
            repeats=repeats,
            clock=time.process_time,
            goal=f"lists.{key}",
        )
        yield Figure(
            name=f"{name}, queries",
            alternative=BARE,
            ours=(queries(ours, address),),
            theirs=(queries(self.bare, bare),),
            unit=Unit.QUERIES,
            goal=f"lists.{key}.queries",
        )


def figures_of_new_database(size: Size) -> Iterator[Figure]:
    """On the database of the environment, which is empty."""
    call_command("migrate", verbosity=0)
    yield from figures(size)


def figures(size: Size) -> Iterator[Figure]:
    steward, repeats = User.objects.create_user("steward"), size.repeats(REPEATS)
    few, many = (with_releases(steward, f"releases-{count}", count) for count in RELEASES[size])
    for number in range(DATASETS[size]):
        seed.make_dataset(steward, f"dataset-{number}")
    clients = signed_in(steward)
    for key, name, address in (
        ("datasets", f"API, {DATASETS[size]} datasets", f"/api/v1/datasets/?page_size={DATASETS[size]}"),
        ("releases", "API, 50 releases", f"/api/v1/datasets/{many.slug}/releases/?page_size=50"),
        ("budget", f"budget page of {RELEASES[size][1]} releases", budget_page(many)),
        ("release", f"release page beside {RELEASES[size][1]} releases", release_page(many)),
    ):
        yield from clients.figures(key, name, address, repeats)
    for key, page in (("budget", budget_page), ("release", release_page)):
        yield growth(key, clients.pages, (page(few), page(many)), RELEASES[size], repeats)


def growth(
    key: str, client: Client, addresses: tuple[str, str], counts: tuple[int, int], repeats: int
) -> Figure:
    """The same page with few releases and with many."""
    few, many = addresses
    for address in addresses:
        get(client, address)  # what is drawn once
    return compare(
        f"{key} page with {counts[1]} releases",
        lambda: get(client, many),
        f"the page with {counts[0]}",
        lambda: get(client, few),
        repeats=repeats,
        clock=time.process_time,
        goal=f"lists.{key}.growth",
    )


def budget_page(dataset: Dataset) -> str:
    return f"/datasets/{dataset.slug}/budget/"


def release_page(dataset: Dataset) -> str:
    return f"/releases/{dataset.releases.order_by('requested_at').last().pk}/"


def with_releases(steward: User, slug: str, count: int) -> Dataset:
    """A dataset with published maps: one is drawn, the others go through the ledger with its content."""
    dataset = seed.make_dataset(steward, slug, limits={"presence": "40"})
    seed.add_checkins(dataset)
    content = b""
    for number in range(count):
        question = lifecycle.ReleaseRequest(mechanism="laplace", epsilon=f"0.01{number:03}", resolution=16)
        release = lifecycle.request_release(steward, dataset, question)
        if content:
            transitions.spend(release.pk)
            draws.publish(release.pk, content)
        else:
            draws.carry_out(release.pk)
            content = bytes(Result.objects.get(pk=release.pk).content)
    return dataset


def signed_in(steward: User) -> Clients:
    _, secret = ApiToken.objects.create(user=steward, name="bench", scopes=["read", "steward"])
    pages, api = Client(), Client(headers={"Authorization": f"Bearer {secret}"})
    pages.force_login(steward)
    with override_settings(MIDDLEWARE=BARE_MIDDLEWARE):
        bare = Client()
        bare.force_login(steward)
        bare.get("/bare/1/")  # which loads the middleware
    return Clients(pages=pages, api=api, bare=bare)


def get(client: Client, address: str) -> bytes:
    """Errors: RuntimeError for other answers than 200."""
    response = client.get(address, HTTP_HOST="localhost")
    if response.status_code != 200:
        raise RuntimeError(f"{address}: {response.status_code}")
    return b"".join(response) if response.streaming else bytes(response.content)


def queries(client: Client, address: str) -> float:
    with CaptureQueriesContext(connection) as captured:
        get(client, address)
    return float(len(captured))
