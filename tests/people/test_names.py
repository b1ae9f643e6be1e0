"""Names of releases: who gives them, who reads them, and what does not depend on them."""

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse
from django.utils.html import escape

from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset, Event, Membership, Release
from heatmaps.people import embedding
from heatmaps.releases import lifecycle, names, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.names import Label, NameMoved
from mechanisms.check import ParameterError

NAME, NOTE = "Nights <b>of winter", "After midnight.\nhttps://example.org/ & more"
SHOWN = {escape(NAME), escape(NOTE)}


@pytest.fixture
def named(people, published):
    """A public release with a name and a note that nobody showed to everybody."""
    names.rename(people["analyst"], published, Label(name=NAME, note=NOTE))
    embedding.change(people["steward"], published.dataset, ["https://news.example"], reason="x")
    return publication.set_public(people["steward"], published, public=True)


def everything_for(client, release):
    """What a release is told by, page by page, as text."""
    about = ("release", "release-map", "release-sheet", "embed", "release-comparable", "release-og-image")
    pages = {name: reverse(name, args=[release.pk]) for name in about}
    pages |= {"public": reverse("public"), "api": f"/api/v1/releases/{release.pk}/"}
    for suffix in ("json", "csv", "html"):
        pages[suffix] = reverse("release-download", args=[release.pk, suffix])
    answers = {name: client.get(page) for name, page in pages.items()}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {name: b"".join(answer).decode(errors="replace") for name, answer in answers.items()}


def test_an_unconfirmed_name_is_for_members_alone(client_of, people, named):
    for outsider in ("anonymous", "stranger", "administrator"):
        told = "".join(everything_for(client_of(outsider), named).values())
        assert not [word for word in ("winter", "midnight", "example.org/") if word in told], outsider
    for member in ("steward", "analyst", "auditor"):
        page = client_of(member).get(reverse("release", args=[named.pk])).content.decode()
        assert all(text in page for text in SHOWN)
        assert f'<meta property="og:title" content="{named.dataset.title}">' in page
    listed = client_of("analyst").get(reverse("dataset-releases", args=["city"])).content.decode()
    assert escape(NAME) in listed
    for page in ("dataset-releases", "dataset", "dataset-budget", "ledger"):
        told = client_of("administrator").get(reverse(page, args=["city"])).content.decode()
        assert "winter" not in told


def test_a_steward_shows_it_and_every_change_hides_it_again(client_of, people, named):
    def told():
        tell = {
            name for name, text in everything_for(client_of("anonymous"), named).items() if "winter" in text
        }
        assert tell in (set(), {"release", "release-sheet", "release-comparable", "embed", "public", "api"})
        return bool(tell)

    with pytest.raises(NameMoved):
        names.show(people["steward"], named, Label(name=NAME, note="what was read before"))
    assert not told()
    names.show(people["steward"], named, Label(name=NAME, note=NOTE.replace("\n", "\r\n")))
    assert told()
    names.rename(people["analyst"], named, Label(name=NAME, note=NOTE))
    assert told()  # the same text
    names.rename(people["analyst"], named, Label(name=f"{NAME}!", note=NOTE))
    assert not told()
    names.show(people["steward"], named, names.label_of(named))
    publication.set_public(people["steward"], named, public=False)
    publication.set_public(people["steward"], named, public=True)
    assert not told()
    names.show(people["steward"], named, names.label_of(named))
    names.hide(people["steward"], named)
    assert not told()
    publication.set_public(people["steward"], named, public=False)
    with pytest.raises(NameMoved):
        names.show(people["steward"], named, names.label_of(named))


@pytest.mark.unguarded
def test_who_asked_and_stewards_give_it(people, dataset, published):
    others = Release.objects.get(pk=published.pk)
    Release.objects.filter(pk=published.pk).update(requested_by=people["steward"])
    for name in ("auditor", "administrator", "stranger"):
        with pytest.raises(Http404 if name == "stranger" else PermissionDenied):
            names.rename(people[name], published, Label(name="x"))
    others.refresh_from_db()
    with pytest.raises(PermissionDenied):
        names.rename(people["analyst"], others, Label(name="x"))
    for act in (names.hide, lambda person, release: names.show(person, release, names.UNNAMED)):
        with pytest.raises(PermissionDenied):
            act(people["analyst"], published)
    names.rename(people["steward"], others, Label(name="x"))
    assert Release.objects.get(pk=published.pk).name == "x"
    Release.objects.filter(pk=published.pk).update(requested_by=people["analyst"])
    Membership.objects.filter(user=people["analyst"]).update(role="auditor")
    assert not names.may_rename(people["analyst"], Release.objects.get(pk=published.pk))


def test_nothing_that_was_promised_depends_on_it(client_of, people, dataset, published):
    request = ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    files = [reverse("release-download", args=[published.pk, suffix]) for suffix in ("npy", "json", "html")]
    events = Event.objects.count()
    before = [b"".join(client_of("analyst").get(file)) for file in files]

    names.rename(people["analyst"], published, Label(name=NAME, note=NOTE))
    again = lifecycle.request_release(people["analyst"], dataset, request, label=Label(name="Another"))

    assert [b"".join(client_of("analyst").get(file)) for file in files] == before
    assert (again.pk, again.name) == (published.pk, NAME)
    assert Event.objects.count() == events
    assert verify(Dataset.objects.get()).ok


def test_a_name_at_asking_time_is_no_part_of_the_question(people, dataset):
    request = ReleaseRequest(mechanism="sparse-emd", epsilon="0.4", resolution=16)
    ask = lambda **how: lifecycle.request_release(people["analyst"], dataset, request, **how)  # noqa: E731
    first = ask(idempotency_key="one", label=Label(name="First"))
    repeated = ask(idempotency_key="one", label=Label(name="Second"))
    assert (repeated.pk, repeated.name) == (first.pk, "First")


@pytest.mark.parametrize(
    ("field", "text"),
    [
        *(("name", text) for text in ("a\nb", "a\0b", "a\u202eb", "a\u2066b", "\u200b", "x" * 81, "a\ud800")),
        *(("note", text) for text in ("a\tb", "a\0b", "a\u202eb", "a\u2028b", "x" * 1001)),
    ],
)
def test_what_would_read_as_something_else_is_refused_by_name(field, text):
    with pytest.raises(ParameterError) as refused:
        Label(**{field: text})
    assert refused.value.parameter == field
    assert refused.value.allowed.startswith("at most ")


def test_other_texts_are_kept_as_they_are():
    text = Label(name=" =1+1 👩‍👩‍👧 شب‌ها ", note="one\r\ntwo\n\nthree")
    assert (text.name, text.note) == ("=1+1 👩‍👩‍👧 شب‌ها", "one\ntwo\n\nthree")
