"""Finds a release's ε for a largest error or for protection goals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final
from urllib.parse import urlencode

from heatmaps.guides.chain import chain, counted_sheet
from heatmaps.models import Dataset
from heatmaps.numbers import UP, length
from heatmaps.regions import region_of
from heatmaps.releases.epsilon import for_error, for_protection
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.request import Plan
from heatmaps.views.releases.forms.goals import WishForm
from heatmaps.views.releases.forms.release import ReleaseForm
from heatmaps.views.releases.forms.start import GOES_BACK, too_exact
from heatmaps.views.releases.forms.start import NOTHING as NO_START
from heatmaps.wording import goals
from heatmaps.wording.guarantee import decimal
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.metric.protection_planner import Wish

AGAIN: Final = "again"  # in a query: the filled form is shown once more, without an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedFor:
    """Says what an ε that a search led to is good for; empty where none was looked for."""

    error: str = ""  # a length in words
    granted: tuple[str, ...] = ()  # sentences
    query: tuple[tuple[str, str], ...] = ()  # (name, value) of the question with what was wished

    @property
    def again(self) -> str:
        """Returns the query with the error or the goals that were entered."""
        return urlencode([*self.query, (AGAIN, "1")])


NOTHING: Final = LookedFor()


def with_epsilon(
    dataset: Dataset, form: ReleaseForm, wish_form: WishForm
) -> tuple[ReleaseForm, WishForm, LookedFor]:
    """Returns the forms with the ε that was looked for in place of what it was looked for by; errors are
    beside fields.

    Both are valid. They are returned as they are where nothing was looked for, or nothing was found.
    """
    error_m, wishes = form.cleaned_data.get("error_m"), wish_form.wishes
    try:
        if error_m and wishes:
            raise ParameterError("error_m", error_m, "nothing beside sentences of what should stay protected")
        if error_m:
            epsilon = _least_epsilon(dataset, form, error_m)
            looked_for = LookedFor(error=length(Fraction(error_m), rounding=UP))
            return form.at(decimal(epsilon)), wish_form, looked_for
        if wishes:
            if _goes_back(dataset, form):
                form.add_error("guide", GOES_BACK)
                return form, wish_form, NOTHING
            epsilon = for_protection.epsilon_for(dataset, _unguided(form), wishes)
            alone = {"guide": NO_START, "proposed": ""} if form.start.is_proposed else {}
            filled = form.at(decimal(epsilon), **alone)
            granted = _goal_sentences(dataset, filled, wishes)
            query = (*form.typed(), *wish_form.typed())
            return filled, WishForm(), LookedFor(granted=granted, query=query)
    except for_error.TooExact as error:
        _explain_too_exact(dataset, form, error)
    except ParameterError as error:
        if not wish_form.refuse(error):
            form.explain(error)
    return form, wish_form, NOTHING


def _least_epsilon(dataset: Dataset, form: ReleaseForm, error_m: str) -> Fraction:
    """Finds the least ε; without the guide, where the page alone proposed one and it needs more.

    Errors: `ParameterError`.
    """
    request = form.request()
    if request.guide is None or not form.start.is_proposed:
        return for_error.epsilon_for(dataset, request, error_m)
    try:
        guided = [for_error.epsilon_for(dataset, request, error_m)]
    except ParameterError:
        guided = []
    try:
        return min([*guided, for_error.epsilon_for(dataset, _unguided(form), error_m)])
    except ParameterError:
        if guided:
            return guided[0]
        raise


def _explain_too_exact(dataset: Dataset, form: ReleaseForm, error: for_error.TooExact) -> None:
    """Says why no ε is enough; where the start that a person chose is in the way, the least error with it,
    and what to do."""
    if not form.start.guide or form.start.is_proposed:
        form.explain(error)
        return
    try:
        for_error.epsilon_for(dataset, _unguided(form), form.cleaned_data["error_m"])
    except ParameterError as plain:
        form.explain(plain)
    else:
        form.add_error("error_m", too_exact(error.least_m))


def _goes_back(dataset: Dataset, form: ReleaseForm) -> bool:
    """Tells whether a person chose a start that makes the map tell of others of the dataset, too."""
    guide = form.start.guide
    if guide is None or form.start.is_proposed:
        return False
    is_counted = counted_sheet(guide, Relation(dataset.relation)) is not None
    return is_counted or any(release.dataset_id == dataset.pk for release in chain(guide.release))


def _unguided(form: ReleaseForm) -> ReleaseRequest:
    """Returns the question without its guide: what is charged does not depend on it, and not every ε allows
    one."""
    return replace(form.request(), guide=None)


def _goal_sentences(dataset: Dataset, form: ReleaseForm, wishes: Sequence[Wish]) -> tuple[str, ...]:
    guarantee = Plan.of(dataset, _unguided(form)).guarantee
    return goals.granted(guarantee, wishes, diameter_m=region_of(dataset).diameter_m)
