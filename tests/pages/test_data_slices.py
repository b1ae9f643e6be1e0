"""A period and a sub-rectangle on the pages: typed, quoted, spent, shown, and refused beside the field."""

import html
from urllib.parse import parse_qsl

import pytest
from django.urls import reverse

from heatmaps.models import Release
from tests.services.draws import carry_out

PART = {
    "since": "2026-03-01",
    "until": "2026-04-01",
    "until_time": "06:30",
    "west": "0.25",
    "south": "0.25",
    "east": "0.75",
    "north": "0.5",
}


@pytest.fixture
def address(dataset):
    return reverse("release-new", args=[dataset.slug])


@pytest.fixture
def analyst(client_of):
    return client_of("analyst")


def text(answer):
    return html.unescape(answer.content.decode())


def errors(answer, field):
    return " ".join(answer.context["form"].errors.get(field, []))


def test_the_part_is_folded_and_empty_at_first(analyst, address, question):
    for typed in ({}, question()):
        closed = text(analyst.get(address, typed))
        assert 'id="data-slice"' not in closed
        assert 'name="act" value="part"' in closed
    for typed in ({"open": "part"}, question(act="part"), question(open="part")):
        body = text(analyst.get(address, typed))
        assert 'id="data-slice"' in body
        assert "A part costs as much as all of it" in body
        assert "Check-ins without a time are in no period" in body
        assert 'data-bounds="0.0,0.0,1.0,1.0"' in body
    quote = analyst.get(address, question())
    assert quote.context["quote"].data_slice == []


def test_a_quote_carries_the_part_through_to_the_release(analyst, address, question):
    quote = analyst.get(address, question(**PART))
    body = text(quote)
    assert "from 2026-03-01 00:00 to before 2026-04-01 06:30 UTC" in body
    assert "latitude 0.25° to 0.5°, longitude 0.25° to 0.75°" in body
    assert 'id="data-slice"' in body
    paid = analyst.post(address, dict(quote.context["typed"]) | {"key": "k"})
    assert paid.status_code == 302
    release = Release.objects.get()
    assert (release.since, release.until) == (1772323200, 1775025000)
    assert release.rectangle == [2**29, 2**29, 3 * 2**29, 2**30]

    carry_out(release.pk)
    page = text(analyst.get(reverse("release", args=[release.pk])))
    assert "from 2026-03-01 00:00 to before 2026-04-01 06:30 UTC" in page
    assert "latitude 0.25° to 0.5°" in page
    sheet = analyst.get(reverse("release-download", args=[release.pk, "json"]))
    sheet = b"".join(sheet.streaming_content).decode()
    assert '"since": "2026-03-01T00:00:00Z"' in sheet
    assert text(analyst.get(reverse("release-map", args=[release.pk]))).count("0.75")
    ledger = text(analyst.get(address, question(**PART)))
    assert "Free of charge" in ledger


@pytest.mark.parametrize(
    "refused",
    [
        ({"since": "1.3.2026"}, "since", "1.3.2026 is not allowed here. Allowed: a date such as 2026-03-01"),
        ({"since": "", "since_time": "10:00"}, "since", "T10:00 is not allowed here. Allowed: a date"),
        ({"until": "2026-02-01"}, "until", "Allowed: a moment after since (2026-03-01T00:00:00Z)"),
        ({"west": "-1"}, "west", "-1 is not allowed here. Allowed: a number of degrees inside the region: 0"),
        ({"north": ""}, "north", "Allowed: a number of degrees inside the region"),
        ({"east": "0.2"}, "east", "Allowed: above west"),
        ({"south": "x" * 41}, "south", "40 characters"),
    ],
)  # fmt: skip
def test_a_refusal_stands_beside_its_field(analyst, address, question, refused):
    changes, field, message = refused
    answer = analyst.get(address, question(**(PART | changes)))
    assert answer.status_code == 422
    assert message in errors(answer, field)
    assert set(answer.context["form"].errors) == {field}
    assert message in text(answer)
    assert 'id="data-slice"' in text(answer)


def test_a_period_without_data_looks_like_any_other(analyst, address, question):
    bodies = []
    for day in ("1990-01-01", "2400-01-01"):
        answer = analyst.get(address, question(since=day))
        assert answer.status_code == 200
        bodies.append([line.cost for line in answer.context["quote"].lines])
    assert bodies[0] == bodies[1]


def test_the_address_of_a_quote_says_the_same_again(analyst, address, question):
    """A quote is a GET: its address can be kept."""
    first = analyst.get(address, question(**PART))
    query = dict(parse_qsl(first.wsgi_request.META["QUERY_STRING"]))
    assert analyst.get(address, query).context["quote"].data_slice == first.context["quote"].data_slice
