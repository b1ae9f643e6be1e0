"""The ε of a release, looked for: for an error of so much at most, or for what should stay protected."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from django.http import QueryDict

from heatmaps import accuracy, plans, queries, quotes
from heatmaps.lengths import length_words
from heatmaps.models import Dataset
from heatmaps.views.forms.release import ReleaseForm
from heatmaps.views.forms.wishes import WishForm
from heatmaps.wording import wishes
from heatmaps.wording.guarantee import decimal
from mechanisms.check import ParameterError

AGAIN: Final = "again"  # in a query: the filled form is shown once more, without an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedFor:
    """What an ε that was found is good for; empty where none was looked for."""

    error: str = ""  # a length in words
    granted: tuple[str, ...] = ()  # sentences
    again: str = ""  # the query with what was wished


NOTHING: Final = LookedFor()


def with_epsilon(
    dataset: Dataset, form: ReleaseForm, typed: QueryDict
) -> tuple[ReleaseForm, WishForm, LookedFor]:
    """The forms with the ε that was looked for in place of what that was said by; errors are beside fields.

    `form` is bound to `typed`. As they are where nothing was looked for, or nothing is to be answered.
    """
    wish_form = WishForm(typed)
    if not (wish_form.is_valid() and form.is_valid()) or AGAIN in typed:
        return form, wish_form, NOTHING
    error_m, wished = form.cleaned_data["error_m"], wish_form.wishes
    try:
        if error_m and wished:
            raise ParameterError("error_m", error_m, "nothing beside sentences of what should stay protected")
        if error_m:
            epsilon = accuracy.epsilon_for(dataset, form.request(), error_m)
            return _filled(form, dataset, typed, epsilon), wish_form, LookedFor(error=_length(error_m))
        if wished:
            epsilon = plans.epsilon_for(dataset, form.request(), wished)
            filled = _filled(form, dataset, typed, epsilon)
            return filled, WishForm(), _granted(dataset, filled, wish_form, typed)
    except ParameterError as error:
        if not wish_form.refuse(error):
            form.explain(error)
    return form, wish_form, NOTHING


def _filled(form: ReleaseForm, dataset: Dataset, typed: QueryDict, epsilon: Fraction) -> ReleaseForm:
    answered = typed.copy()
    answered["epsilon"], answered["error_m"] = decimal(epsilon), ""
    filled = ReleaseForm(dataset, answered, form.answers)
    filled.full_clean()
    return filled


def _granted(dataset: Dataset, filled: ReleaseForm, wish_form: WishForm, typed: QueryDict) -> LookedFor:
    again = typed.copy()
    again[AGAIN] = "1"
    guarantee = quotes.plan(dataset, filled.request()).guarantee
    diameter_m = queries.region_of(dataset).diameter_m
    granted = wishes.granted(guarantee, wish_form.wishes, diameter_m=diameter_m)
    return LookedFor(granted=granted, again=again.urlencode())


def _length(metres: str) -> str:
    return length_words(float(metres))
