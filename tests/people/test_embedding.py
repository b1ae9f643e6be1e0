"""Which websites may embed public maps: what is taken for one, who says so, and that it is an event."""

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps.ledger.verification import verify
from heatmaps.people import embedding
from mechanisms.check import ParameterError, printable

NEWS = "https://news.example"
LONG_HOST = ".".join(["a" * 60] * 5)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ([], []),
        ([NEWS], [NEWS]),
        ([" HTTPS://News.Example/ ", NEWS, "https://news.example:443"], [NEWS]),
        (
            ["https://a.b-c.example:8443", "https://intranet"],
            ["https://a.b-c.example:8443", "https://intranet"],
        ),
        (["https://xn--bcher-kva.example"], ["https://xn--bcher-kva.example"]),
        (["http://127.0.0.1:8001", "http://localhost:80"], ["http://127.0.0.1:8001", "http://localhost"]),
    ],
)
def test_it_keeps_each_origin_once_as_browsers_write_it(typed, kept):
    assert embedding.check(typed) == kept


@pytest.mark.parametrize(
    "typed",
    [
        *("*", "https://*", "https://*.news.example", "https:", "https://", "'self'", "data:", "null", ""),
        *("http://news.example", "http://127.0.0.2", "ftp://news.example", "news.example", "//news.example"),
        *("https://news.example/path", "https://news.example?x", "https://news.example#x", f"{NEWS}//"),
        *("https://user@news.example", "https://news.example:", f"{NEWS}:0", f"{NEWS}:65536", f"{NEWS}:*"),
        *(f"{NEWS};script-src *", f"{NEWS} https://b.example", f"{NEWS},https://b.example", f"{NEWS}'"),
        *(f"{NEWS}\r\nSet-Cookie: a=b", f"{NEWS}\nx", f"{NEWS}\0", f"{NEWS}\u2028x"),
        *("https://bücher.example", "https://news。example", "https://-a.example", "https://a..example"),
        *(
            "https://10.0.0.1",
            "https://[::1]",
            "https://2130706433",
            "https://news.example.",
            "https://ſ.example",
        ),
        f"https://{LONG_HOST}",
    ],
)
def test_it_takes_nothing_else_for_an_origin(typed):
    with pytest.raises(ParameterError, match="embed_origins") as refusal:
        embedding.check([NEWS, typed])
    assert refusal.value.value == printable(typed)
    assert "no wildcard" in refusal.value.allowed


def test_it_takes_twenty(steward, dataset):
    many = [f"https://{number}.example" for number in range(21)]
    assert embedding.check(many[:20]) == many[:20]
    with pytest.raises(ParameterError, match="at most 20"):
        embedding.check(many)


def test_each_change_is_an_event(steward, dataset, events):
    for origins in ([NEWS], [NEWS], []):
        embedding.change(steward, dataset, origins, reason=" for the article ")
    assert [(kind, actor, before, after) for kind, actor, before, after in events()] == [
        (
            "embedding",
            "steward",
            f'{{"embedded_by":"{before}"}}',
            f'{{"embedded_by":"{after}","reason":"for the article"}}',
        )
        for before, after in (("no website", NEWS), (NEWS, "no website"))
    ]
    assert verify(dataset).ok


def test_only_stewards_change_it_and_with_a_reason(people, dataset):
    for name in ("analyst", "auditor", "administrator"):
        with pytest.raises(PermissionDenied):
            embedding.change(people[name], dataset, [NEWS], reason="x")
    with pytest.raises(Http404):
        embedding.change(people["stranger"], dataset, [NEWS], reason="x")
    with pytest.raises(ParameterError, match="reason"):
        embedding.change(people["steward"], dataset, [NEWS], reason=" ")
    dataset.refresh_from_db()
    assert dataset.embed_origins == []


def test_nothing_that_came_into_the_table_otherwise_becomes_a_header(dataset):
    dataset.embed_origins = [f"{NEWS}; script-src *"]
    with pytest.raises(ParameterError):
        embedding.origins_of(dataset)
