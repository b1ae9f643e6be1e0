"""Nothing that depends on the data reaches anybody but stewards."""

import re

import pytest
from django.urls import reverse

from heatmaps.ledger import transitions
from heatmaps.models import Upload
from tests.triggers import disabled

OTHERS = ("analyst", "auditor", "administrator")
TABS = ("dataset", "dataset-releases", "dataset-data", "dataset-budget", "people")


@pytest.fixture
def marked(upload):
    """An upload whose every fact is recognisable."""
    with disabled():
        Upload.objects.filter(pk=upload.pk).update(
            file_name="unmistakable.csv",
            size_bytes=987_654_321,
            bytes_read=987_654_320,
            rows_accepted=7_654_321,
            rows_rejected=54_321,
            rows_outside=65_432,
            names_alike=43_210,
            failure="an unmistakable failure",
        )
    return upload


# Whole numbers: five digits in a row are a part of random names and hashes once in a thousand runs.
TELLTALES = re.compile(
    r"unmistakable|(?<![\w.])(?:7,?654,?321|54,?321|65,?432|43,?210|987,?654,?32[01]|941\.9)(?!\w)"
    r"|Files</h2>|Rejected rows|uploads\.js"
)


def readable(client, addresses):
    for name, address in addresses.items():
        answer = client.get(address)
        if answer.status_code == 200 and not answer.streaming:
            yield name, answer.content.decode()


def test_it_shows_counts_to_the_steward(client_of, addresses, marked):
    pages = dict(readable(client_of("steward"), addresses))

    found = set(TELLTALES.findall(pages["dataset-data"]))
    assert {"unmistakable", "7,654,321", "54,321", "65,432", "43,210", "uploads.js"} <= found


@pytest.mark.parametrize("person", OTHERS)
def test_it_shows_counts_to_nobody_else(client_of, addresses, marked, person):
    for name, body in readable(client_of(person), addresses):
        assert not TELLTALES.search(body), name


@pytest.mark.parametrize("person", OTHERS)
@pytest.mark.parametrize("name", TABS)
def test_it_shows_the_same_page_whatever_the_data_are(client_of, dataset, marked, person, name):
    """Uploads come, fail and wait without a trace, until a version is advanced."""
    address = reverse(name, args=[dataset.slug])
    client = client_of(person)
    client.get(address)  # the first page makes the cookie of the forms
    before = without_tokens(client.get(address))

    Upload.objects.create(
        dataset=dataset,
        state="ready",
        uploaded_by=dataset.created_by,
        file_name="more.csv",
        size_bytes=5,
        content_digest="x",
    )

    assert without_tokens(client.get(address)) == before


@pytest.mark.parametrize("person", OTHERS)
@pytest.mark.parametrize("name", ["release", "release-state", *TABS])
def test_it_does_not_tell_when_a_draw_begins(client_of, dataset, queued, person, name):
    """From beginning to end is the run time, which depends on the data."""
    address = reverse(name, args=[dataset.slug if name in TABS else queued.pk])
    client = client_of(person)
    client.get(address)
    before = without_tokens(client.get(address))

    transitions.spend(queued.pk)

    assert without_tokens(client.get(address)) == before


def test_it_shows_seconds_of_the_ledger_to_stewards_only(client_of, dataset):
    address = reverse("ledger", args=[dataset.slug])
    seconds = re.compile(r"\d\d:\d\d:\d\d")

    assert seconds.search(client_of("steward").get(address).content.decode())
    assert not seconds.search(client_of("auditor").get(address).content.decode())


def without_tokens(answer):
    body = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", answer.content.decode())
    return re.sub(r'nonce="[^"]+"', "", body)
