"""What a map starts from, while it is asked for: proposed where it fits, and never in the way."""

import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from uuid import uuid4

import pytest
from django.urls import reverse

from heatmaps.models import Release
from heatmaps.releases import lifecycle, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.views.releases.forms import start
from heatmaps.views.releases.quote_words import NO_SUMS
from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region
from tests.pages.word_count import words_of
from tests.services import seed
from tests.services.draws import carry_out

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
SELECT = re.compile(r'<select name="guide".*?</select>', re.DOTALL)
OPTION = re.compile(r'<option value="([^"]+)"[^>]*?( selected)?>([^<]*)</option>')
REQUEST = ReleaseRequest(mechanism="adaptive", epsilon="3", resolution=16)
RIGHT_HALF = {"west": "0.5", "south": "0", "east": "1", "north": "1"}


@pytest.fixture
def dataset(make_dataset):
    """Of 50 people, about whom maps with ε from 2 to 20 may start from others."""
    made = make_dataset(limits={"presence": "40"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def publish(people):
    def make(dataset, **changes):
        plain = {"mechanism": "adaptive", "epsilon": "4", "resolution": 16}
        made = lifecycle.request_release(people["analyst"], dataset, ReleaseRequest(**(plain | changes)))
        carry_out(made.pk)
        made.refresh_from_db()
        assert made.state == "published"
        return made

    return make


@pytest.fixture
def file(people, dataset):
    return seed.store_guide(people["steward"], dataset)


@pytest.fixture
def ask(client_of, dataset):
    """The page of a question, by an analyst."""

    def make(**typed):
        asked = {"mechanism": "adaptive", "epsilon": "3", "resolution": "16"} | typed
        return client_of("analyst").get(reverse("release-new", args=[dataset.slug]), asked)

    return make


def starts(answer):
    """{value: (text, whether it is selected)}; empty where there is no select."""
    found = SELECT.search(answer.content.decode())
    options = OPTION.findall(found[0]) if found else []
    return {value: (unescape(text), bool(selected)) for value, selected, text in options}


def selected(answer):
    return next((value for value, (_, chosen) in starts(answer).items() if chosen), None)


def spend(client, answer, address):
    """Sends the form of the quote as it was delivered."""
    page = answer.content.decode()
    fields = HIDDEN.findall(page[page.index('id="spend"') :])
    return client.post(address, {name: unescape(value) for name, value in fields})


def test_the_newest_fitting_map_is_proposed_and_what_is_shown_is_spent(client_of, dataset, publish, ask):
    older, newer = publish(dataset), publish(dataset, epsilon="5")
    answer = ask()
    assert list(starts(answer)) == [str(newer.pk), str(older.pk), "none"]
    assert selected(answer) == str(newer.pk)
    assert "ε 5" in starts(answer)[str(newer.pk)][0]
    assert "Starts from" in answer.content.decode()
    assert answer.context["quote"].quote.guide.id == newer.pk
    address = reverse("release-new", args=[dataset.slug])
    assert spend(client_of("analyst"), answer, address).status_code == 302
    assert Release.objects.latest("requested_at").guide_release_id == newer.pk


def test_another_datasets_map_is_offered_and_not_proposed(client_of, dataset, make_dataset, publish, ask):
    """Who made it may not mean well."""
    other = make_dataset("other", expected_persons=200, limits={"presence": "40"})
    seed.add_checkins(other)
    foreign = publish(other, epsilon="1")
    foreign = publication.set_public(other.created_by, foreign, public=True)
    for typed in ({}, {"error_m": "20000"}):
        answer = ask(**typed)
        assert answer.context["quote"].quote.guide is None
    answer = ask()
    assert (list(starts(answer)), selected(answer)) == ([str(foreign.pk), "none"], "none")
    chosen = ask(guide=str(foreign.pk), proposed="none")
    assert chosen.context["quote"].quote.guide.id == foreign.pk
    town = make_dataset("town", expected_persons=200, limits={"presence": "40"})
    page = client_of("analyst").get(reverse("release-new", args=[town.slug]))
    assert selected(page) == "none"
    assert str(foreign.pk) in starts(page)
    own = publish(dataset)
    assert selected(ask()) == str(own.pk)


def test_only_a_map_of_the_same_people_is_proposed(dataset, publish, ask):
    """Of another version or period, a start says where people are now: sums would have no error."""
    release = publish(dataset)
    assert selected(ask()) == str(release.pk)
    assert NO_SUMS not in unescape(ask().content.decode())
    period = ask(since="2026-01-01")
    assert (list(starts(period)), selected(period)) == ([str(release.pk), "none"], "none")
    seed.add_checkins(dataset, seed=2)
    newer = ask()
    assert (list(starts(newer)), selected(newer)) == ([str(release.pk), "none"], "none")
    chosen = ask(guide=str(release.pk), proposed="none")
    assert chosen.context["quote"].quote.guide.id == release.pk
    assert NO_SUMS in unescape(chosen.content.decode())


def test_a_map_of_rectangles_is_offered_and_not_proposed(dataset, publish, file, ask):
    in_rectangles = publish(dataset, guide=str(file.pk))
    assert selected(ask()) == "none"
    assert str(in_rectangles.pk) in starts(ask())
    in_squares = publish(dataset)
    publish(dataset, guide=str(in_rectangles.pk), epsilon="5")
    assert selected(ask()) == str(in_squares.pk)


def test_an_empty_form_opens_with_it_where_its_epsilon_allows_one(client_of, make_dataset, publish):
    for persons, opens in ((200, True), (50, False)):
        made = make_dataset(f"town-{persons}", expected_persons=persons, limits={"presence": "40"})
        seed.add_checkins(made)
        release = publish(made)
        page = client_of("analyst").get(reverse("release-new", args=[made.slug]))
        assert selected(page) == (str(release.pk) if opens else None)
        assert len(words_of(page.content.decode())) <= 280


def test_the_same_question_stays_free(dataset, publish, ask):
    release = publish(dataset)
    answer = ask(epsilon="4")
    assert answer.context["quote"].quote.same_release == release
    assert selected(answer) == "none"
    chosen = ask(epsilon="4", guide=str(release.pk), proposed="none")
    assert chosen.context["quote"].quote.same_release is None
    assert selected(chosen) == str(release.pk)


@pytest.mark.parametrize("typed", [{}, {"act": "more"}, {"live": "1"}])
def test_what_the_page_proposed_is_never_in_the_way(dataset, publish, ask, typed):
    release = str(publish(dataset).pk)
    proposed = {"guide": release, "proposed": release} | typed
    for changes in ({"epsilon": "0.5"}, {"mechanism": "laplace"}, RIGHT_HALF):
        answer = ask(**(proposed | changes))
        assert answer.status_code == 200
        assert starts(answer) == {}
        assert answer.context["quote"].quote.guide is None
    assert selected(ask(**proposed, epsilon="5")) == release


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"epsilon": "0.5"}, "This needs an ε from 2 to 20"),
        (RIGHT_HALF, "This does not cover exactly the same part"),
    ],
)
def test_what_a_person_chose_is_refused_in_words(dataset, publish, ask, changes, told):
    release = str(publish(dataset).pk)
    answer = ask(guide=release, proposed="none", **changes)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert answer.context["quote"] is None
    assert selected(answer) == release


def test_nothing_stays_nothing(client_of, dataset, publish, ask):
    release = publish(dataset)
    chosen = {"guide": "none", "proposed": str(release.pk)}
    answer = ask(**chosen)
    assert selected(answer) == "none"
    assert answer.context["quote"].quote.guide is None
    small = ask(**chosen, epsilon="0.5")  # where no start may be chosen, it is kept for where one may
    assert starts(small) == {}
    assert '<input type="hidden" name="guide" value="none">' in small.content.decode()
    spend(client_of("analyst"), answer, reverse("release-new", args=[dataset.slug]))
    assert Release.objects.latest("requested_at").guide_release_id is None


@pytest.fixture
def show(people):
    def make(release):
        return publication.set_public(people["steward"], release, public=True)

    return make


@pytest.fixture
def make_town(make_dataset):
    def make(slug, **facts):
        made = make_dataset(slug, limits={"presence": "40"}, **facts)
        seed.add_checkins(made)
        return made

    return make


def test_only_maps_of_the_same_part_are_offered(dataset, make_town, publish, show, ask):
    part, far = (
        publish(dataset, rectangle=[0.5, 0, 1, 1]),
        publish(make_town("far", region=Region(2, 2, 3, 3))),
    )
    show(far)
    assert starts(ask()) == {}
    assert list(starts(ask(**RIGHT_HALF))) == [str(part.pk), "none"]


def test_only_maps_that_may_be_seen_are_offered(file, make_town, publish, show, ask):
    others = make_town("others")
    hidden, shown = publish(others), show(publish(others, epsilon="5"))
    assert list(starts(ask())) == [str(file.pk), str(shown.pk), "none"]
    refused = [ask(guide=guide) for guide in (str(hidden.pk), str(uuid4()), "no-such", "0" * 500)]
    assert {one.context["form"].errors["guide"][0] for one in refused} == {start.UNFITTING}


def test_names_are_told_to_those_who_may_read_them(dataset, make_town, publish, show, ask):
    named = show(publish(make_town("others")))
    Release.objects.filter(pk=named.pk).update(name="Secret plans")
    Release.objects.filter(pk=publish(dataset).pk).update(name="Harbour days")
    page = ask().content.decode()
    assert "Harbour days, ε 4" in page
    assert "Secret plans" not in page


def test_an_error_is_looked_for_with_the_start(dataset, publish, ask):
    release = str(publish(dataset).pk)
    answer = ask(guide=release, proposed=release, error_m="8000")
    assert answer.status_code == 200
    assert "is the least for an error of at most 8 km" in answer.content.decode()
    coarse = ask(guide=release, proposed=release, error_m="20000")  # needs less than any start allows
    assert coarse.status_code == 200
    assert coarse.context["quote"].quote.guide is None
    kept = ask(guide=release, error_m="20000")
    assert kept.context["quote"].quote.guide.id.hex == release.replace("-", "")


@pytest.mark.parametrize("typed", [{}, {"error_m": "20000"}])
def test_it_says_for_how_many_people_a_start_may_be_chosen(dataset, publish, ask, typed):
    release = str(publish(dataset).pk)
    answer = ask(guide=release, proposed="none", **{"adaptive.expected_persons": "4"}, **typed)
    assert answer.status_code == 422
    assert answer.context["form"].errors == {"guide": ["This needs 5 to 1,000,000 people: choose Nothing."]}
    assert selected(answer) == release


def test_it_says_which_error_the_start_allows(make_town, publish, client_of):
    """1,000 people: with a start up to ε = 1, without one up to 20."""
    town = make_town("crowd", expected_persons=1000)
    release = str(publish(town, epsilon="1").pk)
    asked = {
        "mechanism": "adaptive",
        "epsilon": "1",
        "resolution": "16",
        "guide": release,
        "proposed": "none",
    }
    address, client = reverse("release-new", args=[town.slug]), client_of("analyst")

    def refused(error_m):
        answer = client.get(address, asked | {"error_m": error_m})
        assert answer.status_code == 422
        assert selected(answer) == release
        [told] = answer.context["form"].errors["error_m"]
        return told

    told = r"With this start the least is ([\d.]+) km: allow more, or start from Nothing\."
    least_km = re.fullmatch(told, refused("1500"))[1]
    found = client.get(address, asked | {"error_m": str(float(least_km) * 1000)})
    assert found.context["quote"].quote.guide.id.hex == release.replace("-", "")
    assert "the least predicted for any ε of a release" in refused("1")  # nor is there one without it


def test_an_error_that_no_start_allows_is_looked_for_without_the_one_that_is_proposed(
    make_town, publish, client_of
):
    """1,000 people: with a start up to ε = 1."""
    town = make_town("crowd", expected_persons=1000)
    release = str(publish(town, epsilon="1").pk)
    asked = {
        "mechanism": "adaptive",
        "epsilon": "1",
        "resolution": "16",
        "guide": release,
        "proposed": release,
    }
    address = reverse("release-new", args=[town.slug])
    answer = client_of("analyst").get(address, asked | {"error_m": "1500"})
    assert answer.status_code == 200
    assert answer.context["quote"].quote.guide is None
    assert Fraction(answer.context["form"]["epsilon"].value()) > 1


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits={"record": "90", "radius": "90"})
    seed.add_checkins(made)
    return made


WISHED = {"wish2_part": "1", "wish2_distance_m": "3000", "wish2_epsilon": "5"}


def test_goals_are_granted_to_a_map_that_starts_from_nothing(panel, publish, client_of):
    """A map that started from another one would tell what both do, which is more than was allowed."""
    publish(panel)
    asked = {"mechanism": "adaptive", "epsilon": "5", "resolution": "16", "guide": "newest"}
    address = reverse("release-new", args=[panel.slug])
    plain = client_of("analyst").get(address, asked)
    assert plain.context["quote"].quote.guide is not None  # it is proposed where nothing was wished
    answer = client_of("analyst").get(address, asked | WISHED)
    assert "is the most that protects what you described" in answer.content.decode()
    assert answer.context["quote"].quote.guide is None
    assert answer.context["form"]["epsilon"].value() == "5"


def test_goals_say_that_a_start_is_in_the_way(panel, publish, client_of):
    asked = {
        "mechanism": "adaptive",
        "epsilon": "5",
        "resolution": "16",
        "guide": str(publish(panel).pk),
        "proposed": "none",
    }
    answer = client_of("analyst").get(reverse("release-new", args=[panel.slug]), asked | WISHED)
    assert answer.status_code == 422
    assert answer.context["form"].errors == {"guide": [start.GOES_BACK]}
    assert start.GOES_BACK in unescape(answer.content.decode())


def test_a_question_that_costs_too_much_fits_without_the_start(make_dataset, publish, client_of):
    town = make_dataset("town", limits={"presence": "5"})
    seed.add_checkins(town)
    publish(town, epsilon="4")
    asked = {"mechanism": "adaptive", "epsilon": "3", "resolution": "16"}
    answer = client_of("analyst").get(reverse("release-new", args=[town.slug]), asked)
    assert answer.context["quote"].fits == "1"
    page = answer.content.decode()
    form = page[page.index("The same question fits now") :]
    assert not [name for name, _ in HIDDEN.findall(form) if name == "guide"]


def test_the_other_relation_needs_twice_as_much(make_dataset, publish, client_of):
    limits = {"record": "90", "radius": "90"}
    made = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits=limits)
    seed.add_checkins(made)
    release = publish(made)
    address = reverse("release-new", args=[made.slug])
    for epsilon, found in (("3.9", None), ("4.1", str(release.pk))):
        asked = {"mechanism": "adaptive", "epsilon": epsilon, "resolution": "16"}
        assert selected(client_of("analyst").get(address, asked)) == found


@pytest.mark.parametrize("worth", [1, 2])
def test_it_says_what_a_start_is_worth(dataset, publish, ask, monkeypatch, worth):
    publish(dataset)
    plain = replace(lifecycle.quote(dataset, REQUEST).expected_error, assumptions="")

    def guided(mechanism, *, persons):
        parts = 1 if mechanism.guide is None else worth
        return replace(plain, emd=plain.emd / parts, emd_low=plain.emd_low / parts)

    monkeypatch.setattr(Adaptive, "expected_error", guided)
    answer = ask()
    quote, page = answer.context["quote"], answer.content.decode()
    error, without = quote.expected_error.short, quote.error_without_start.short
    gain = f"Probably {error} instead of {without} if it fits, at the same cost."
    assert (gain if worth > 1 else f"No more exact here: {error} with and without it.") in page
    assert (f"Without it: error {without}." in page) is (worth > 1)
    assert len(words_of(page)) <= 280
