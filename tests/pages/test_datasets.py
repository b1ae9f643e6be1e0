"""Making a dataset: what is typed, what is refused, and where the reason stands."""

import pytest
from django.urls import reverse

from heatmaps.models import Dataset, Membership

AUSTIN = {"west": "-98.3", "south": "29.8", "east": "-97.3", "north": "31.0"}


@pytest.fixture
def typed():
    """A filled form."""
    plain = {"title": "Austin 2025", "relation": "add_remove", "presence_limit": "4", "delta_limit": "0"}
    return {**plain, **AUSTIN, "expected_persons": "1000"}


def errors_of(response):
    return response.context["form"].errors


@pytest.fixture
def post(client_of):
    return lambda typed: client_of("analyst").post(reverse("dataset-new"), typed)


def test_it_makes_a_dataset_and_its_maker_the_steward(post, typed, people):
    answer = post(typed)

    made = Dataset.objects.get()
    assert answer["Location"] == reverse("dataset-data", args=["austin-2025"])
    assert (made.west, made.south, made.east, made.north) == (-98.3, 29.8, -97.3, 31.0)
    assert made.accounts.get(kind="presence").limit == 4 * 10**12
    assert made.accounts.get(kind="delta").limit == 0
    assert Membership.objects.get(dataset=made).user == people["analyst"]


def test_it_takes_the_facts_of_the_chosen_relation_only(post, typed):
    replace = {"relation": "replace", "persons": "50", "radius_m": "600", "radius_limit": "1.5"}
    post(typed | replace | {"record_limit": ""})

    made = Dataset.objects.get()
    limits = dict(made.accounts.values_list("kind", "limit"))
    assert (made.persons, made.radius_m, made.expected_persons) == (50, 600, None)
    assert limits == {"record": None, "radius": 15 * 10**11, "delta": 0}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": ""}, "title"),
        ({"slug": "Not a slug"}, "slug"),
        ({"slug": "new"}, "slug"),
        ({"west": "-97.0"}, "east"),
        ({"west": "nan"}, "west"),
        ({"south": "32"}, "north"),
        ({"north": "91"}, "north"),
        ({"presence_limit": "0x1"}, "presence_limit"),
        ({"presence_limit": ""}, "presence_limit"),
        ({"presence_limit": "1e400"}, "presence_limit"),
        ({"presence_limit": "-1"}, "presence_limit"),
        ({"delta_limit": "2"}, "delta_limit"),
        ({"expected_persons": "0"}, "expected_persons"),
        ({"relation": "something"}, "relation"),
        ({"relation": "replace", "radius_m": "600", "record_limit": "1"}, "persons"),
        ({"relation": "replace", "persons": "5", "radius_m": "600"}, "record_limit"),
        ({"relation": "replace", "persons": "5", "record_limit": "1"}, "radius_m"),
    ],
)
def test_it_says_beside_the_field_what_is_wrong(post, typed, changes, field):
    answer = post(typed | changes)

    assert answer.status_code == 422
    assert list(errors_of(answer)) == [field]
    assert f'id="id_{field}_error"' in answer.content.decode() or field == "relation"
    assert not Dataset.objects.exists()


def test_it_says_when_an_address_is_taken(post, typed, dataset):
    answer = post(typed | {"slug": dataset.slug})

    assert list(errors_of(answer)) == ["slug"]


def test_it_explains_both_relations_in_a_sentence_each(client_of):
    body = client_of("analyst").get(reverse("dataset-new")).content.decode()

    assert "Hides whether a person is in the data at all" in body
    assert "Hides where a person was" in body


def test_what_the_page_does_not_ask_is_as_usual(post, typed):
    post({name: text for name, text in typed.items() if name not in ("expected_persons", "delta_limit")})

    made = Dataset.objects.get()
    assert (made.slug, made.expected_persons, made.row_capacity) == ("austin-2025", 1000, 1_000_000)
    assert (made.schedule, made.retention_days) == ("", None)
    assert made.accounts.get(kind="delta").limit == 0


def test_a_guess_that_is_left_empty_is_none(post, typed):
    post(typed | {"expected_persons": ""})

    assert Dataset.objects.get().expected_persons is None


def test_more_is_asked_where_it_is_wanted_or_wrong_and_nothing_typed_is_lost(client_of, post, typed):
    few = {name: text for name, text in typed.items() if name != "expected_persons"}
    asked = post(few | {"act": "more", "west": "nothing", "relation": "replace"})
    wrong = post(few | {"slug": "Not a slug"})
    plain = client_of("analyst").get(reverse("dataset-new")).content.decode()
    by_address = client_of("analyst").get(reverse("dataset-new"), {"more": "1"}).content.decode()

    assert asked.status_code == 200
    assert not Dataset.objects.exists()
    kept = asked.content.decode()
    for words in (
        'value="Austin 2025"',
        'value="nothing"',
        'value="replace" data-relation="replace" checked',
    ):
        assert words in kept
    assert "Nothing was made yet" not in kept
    assert ["Expected number" in page for page in (kept, by_address, wrong.content.decode(), plain)] == [
        *(True, True, True, False)
    ]


def test_it_shows_limits_with_what_is_left(client_of, published, dataset):
    body = client_of("analyst").get(reverse("dataset-budget", args=[dataset.slug])).content.decode()

    presence = body[body.index("Budget: presence") :]
    for words in ("<dd>0.5</dd>", "<dd>1.5</dd>", "<dd>2</dd>"):  # spent, left, limit
        assert words in presence[:1200]


def test_it_advances_the_version_when_a_steward_says_so(client_of, dataset):
    client_of("steward").post(reverse("version-new", args=[dataset.slug]))

    assert dataset.versions.count() == 2
