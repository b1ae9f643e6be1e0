"""The two steps of a release: the exact cost first, the spending by a second act."""

from fractions import Fraction

import pytest
from django.urls import reverse

from heatmaps.models import Dataset, Event, Release
from mechanisms.guarantee import Relation
from tests.services import seed
from tests.services.draws import carry_out


@pytest.fixture
def address(dataset):
    return reverse("release-new", args=[dataset.slug])


@pytest.fixture
def analyst(client_of):
    return client_of("analyst")


def line_of(response, kind):
    return next(line for line in response.context["quote"].lines if line.title.startswith(kind))


def test_it_shows_the_exact_cost_before_and_after(analyst, address, question):
    answer = analyst.get(address, question(epsilon="0.1234567890123"))

    line = line_of(answer, "presence")
    # Rounded up to units of 1e-12, never down.
    assert (line.cost, line.before.left, line.left_after) == ("0.123456789013", "2", "1.876543210987")
    assert "0.123456789013" in answer.content.decode()
    assert "1.876543210987" in answer.content.decode()


def test_it_writes_nothing_for_a_quote(analyst, address, question):
    before = Event.objects.count()

    analyst.get(address, question())

    assert Event.objects.count() == before
    assert not Release.objects.exists()


def test_it_shows_the_promise_and_the_error_before_anything_is_spent(analyst, address, question):
    for act in ("quote", "more"):
        body = analyst.get(address, question(epsilon="1", act=act)).content.decode()

        assert "by a factor of at most 2.72 (presence ε = 1)" in body
        assert "Spend and publish" in body
        assert ("How far off the map will be" in body) == (act == "more")
        assert ("right at most 73.2 % of the time" in body) == (act == "more")


def test_it_spends_what_it_quoted(analyst, address, question, people):
    answer = analyst.post(address, question() | {"key": "k1"})

    made = Release.objects.get()
    assert answer["Location"] == reverse("release", args=[made.pk])
    assert made.requested_by == people["analyst"]
    assert made.charges.get(account__kind="presence").amount == 5 * 10**11


def test_it_spends_once_when_the_button_is_pressed_twice(analyst, address, question):
    for _ in range(2):
        analyst.post(address, question() | {"key": "the page's own"})

    assert Release.objects.count() == 1


def test_it_says_that_a_repeat_is_free(analyst, address, question, published):
    answer = analyst.get(address, question())

    body = answer.content.decode()
    assert "Free of charge" in body
    assert reverse("release", args=[published.pk]) in body
    assert "Spend and publish" not in body


def test_it_says_how_much_is_missing_when_the_budget_is_exceeded(analyst, address, question, queued):
    answer = analyst.get(address, question(epsilon="1.75"))

    body = answer.content.decode()
    line = line_of(answer, "presence")
    assert not line.affordable
    assert (line.cost, line.before.left, line.left_after) == ("1.75", "1.5", "0.25 too little")
    assert line.before.reserved == "0.5"
    assert "This release costs 1.75 of presence (ε), 1.5 is left (0.5 is held by queued releases)" in body
    assert "Spend and publish" not in body


def test_it_refuses_to_spend_what_is_no_longer_there(analyst, address, question, queued):
    answer = analyst.post(address, question(epsilon="1.75"))

    assert answer.status_code == 409
    assert "Nothing was spent" in answer.content.decode()
    assert Release.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "NaN"}, "epsilon"),
        ({"epsilon": "1e400"}, "epsilon"),
        ({"epsilon": "21"}, "epsilon"),
        ({"epsilon": "١"}, "epsilon"),
        ({"epsilon": "0,5"}, "epsilon"),
        ({"mechanism": "unheard-of"}, "mechanism"),
        ({"resolution": "100"}, "resolution"),
        ({"sparse-emd.width": "0"}, "sparse-emd.width"),
        ({"sparse-emd.width": "many"}, "sparse-emd.width"),
        ({"sparse-emd.decay": "7"}, "sparse-emd.decay"),
    ],
)
def test_it_says_beside_the_field_what_is_wrong(analyst, address, question, changes, field):
    for send in (analyst.get, analyst.post):
        answer = send(address, question(**changes))

        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == [field]
    assert not Release.objects.exists()


def test_it_offers_the_catalogue_with_the_parameters_of_each_mechanism(analyst, address):
    form = analyst.get(address).context["form"]

    shown = {one.entry.name: [field.name for field in one.fields] for one in form.mechanisms}
    assert shown["sparse-emd"] == ["sparse-emd.width", "sparse-emd.decay"]
    assert shown["laplace"] == []
    width = str(form["sparse-emd.width"])
    assert 'min="1"' in width
    assert 'value="20"' in width
    assert form["privtree.tree_percent"].field.unit == "%"
    assert [one.entry.name for one in form.mechanisms if one.is_selected] == ["adaptive"]


def test_it_chooses_another_mechanism_where_no_number_of_persons_is_public(analyst, address, dataset):
    Dataset.objects.filter(pk=dataset.pk).update(expected_persons=None)

    form = analyst.get(address).context["form"]

    assert [one.entry.name for one in form.mechanisms if one.is_selected] == ["sparse-emd"]


def test_it_asks_for_a_guess_of_the_number_of_persons_where_none_is_public(
    analyst, address, dataset, question
):
    Dataset.objects.filter(pk=dataset.pk).update(expected_persons=None)
    asked = question(mechanism="adaptive")

    refused = analyst.get(address, asked)
    quoted = analyst.get(address, asked | {"adaptive.expected_persons": "300"})

    assert "public guess" in " ".join(refused.context["form"].errors["adaptive.expected_persons"])
    assert quoted.context["quote"] is not None


def test_it_passes_on_the_parameters_of_the_chosen_mechanism_only(analyst, address, question):
    typed = question(mechanism="laplace-top") | {"laplace-top.keep_percent": "0.5", "sparse-emd.width": "9"}
    analyst.post(address, typed)

    assert Release.objects.get().parameters == {"keep_percent": "0.5"}


def test_it_carries_the_whole_question_to_the_second_step(analyst, address, question):
    answer = analyst.get(address, question(**{"sparse-emd.width": "7"}))

    assert dict(answer.context["typed"])["sparse-emd.width"] == "7"
    analyst.post(address, dict(answer.context["typed"]))
    assert Release.objects.get().parameters["width"] == 7


def test_it_needs_a_data_version(client_of, make_dataset, question):
    empty = make_dataset("empty")

    body = client_of("analyst").get(reverse("release-new", args=[empty.slug]), question()).content.decode()

    assert "no data version yet" in body
    assert "Spend and publish" not in body


def test_it_asks_for_a_token_against_forged_forms(client_of, address, question):
    client = client_of("analyst", enforce_csrf_checks=True)

    assert client.post(address, question()).status_code == 403
    assert not Release.objects.exists()


def test_it_quotes_every_account_of_a_replace_dataset(client_of, make_dataset, question):
    panel = make_dataset("panel", Relation.REPLACE)
    seed.add_checkins(panel)

    asked = question(act="more")
    answer = client_of("analyst").get(reverse("release-new", args=[panel.slug]), asked)

    costs = {line.title: (line.cost, line.left_after) for line in answer.context["quote"].lines}
    assert costs["whole record (ε)"] == ("0.5", "1.5")
    assert costs["radius (ε)"] == ("0.5", "no limit")
    assert "within 500 m of each other" in answer.content.decode()


def test_it_charges_what_the_quote_said(analyst, address, question):
    quoted = line_of(analyst.get(address, question(epsilon="0.3")), "presence")
    analyst.post(address, question(epsilon="0.3"))
    carry_out(Release.objects.get().pk)

    body = analyst.get(reverse("release", args=[Release.objects.get().pk])).content.decode()
    assert quoted.cost == "0.3"
    assert "presence (ε) 0.3<br>" in body


def test_it_finds_the_epsilon_of_a_wished_error(analyst, address, question):
    answer = analyst.get(address, question(mechanism="adaptive", epsilon="7", error_m="30000"))

    typed = dict(answer.context["typed"])
    assert typed["epsilon"] not in ("7", "")
    assert "error_m" not in typed
    assert f"ε = <strong>{typed['epsilon']}</strong> is the least" in answer.content.decode()
    analyst.post(address, typed)
    assert Release.objects.get().epsilon == Fraction(typed["epsilon"])


def test_it_says_beside_the_wish_when_no_epsilon_is_enough(analyst, address, question):
    answer = analyst.get(address, question(mechanism="adaptive", error_m="0.001"))

    assert answer.status_code == 422
    assert "for any ε" in " ".join(answer.context["form"].errors["error_m"])
    assert answer.context["quote"] is None
