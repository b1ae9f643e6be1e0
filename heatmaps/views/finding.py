"""The ε of a release, looked for: for an error of so much at most, or for what should stay protected."""

from dataclasses import dataclass
from typing import Final, TypeVar

from django.http import QueryDict

from heatmaps import accuracy, plans, queries, quotes
from heatmaps.lengths import length_words
from heatmaps.models import Dataset
from heatmaps.views.forms.gathering import GatheringForm
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
    wished: tuple[tuple[str, str], ...] = ()  # the same as (name, value), where the form is posted


NOTHING: Final = LookedFor()
AnyForm = TypeVar("AnyForm", ReleaseForm, GatheringForm)


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
            return form.at(decimal(epsilon)), wish_form, LookedFor(error=_length(error_m))
        if wished:
            filled, granted = _granting(dataset, form, wish_form)
            return filled, WishForm(), LookedFor(granted=granted, again=_again(typed))
    except ParameterError as error:
        if not wish_form.refuse(error):
            form.explain(error)
    return form, wish_form, NOTHING


def gathered_with_epsilon(
    dataset: Dataset, form: GatheringForm, wish_form: WishForm
) -> tuple[GatheringForm, WishForm, LookedFor]:
    """As `with_epsilon`, for a form that is posted; both are valid."""
    if not wish_form.wishes:
        return form, wish_form, NOTHING
    try:
        filled, granted = _granting(dataset, form, wish_form)
    except ParameterError as error:
        if not wish_form.refuse(error):
            form.explain(error)
        return form, wish_form, NOTHING
    return filled, WishForm(), LookedFor(granted=granted, wished=(*form.typed(), *wish_form.typed()))


def _granting(dataset: Dataset, form: AnyForm, wish_form: WishForm) -> tuple[AnyForm, tuple[str, ...]]:
    """The form with the ε that grants what is wished, and sentences that say so. Errors: `ParameterError`."""
    filled = form.at(decimal(plans.epsilon_for(dataset, form.request(), wish_form.wishes)))
    guarantee = quotes.plan(dataset, filled.request()).guarantee
    diameter_m = queries.region_of(dataset).diameter_m
    return filled, wishes.granted(guarantee, wish_form.wishes, diameter_m=diameter_m)


def _again(typed: QueryDict) -> str:
    again = typed.copy()
    again[AGAIN] = "1"
    return again.urlencode()


def _length(metres: str) -> str:
    return length_words(float(metres))
