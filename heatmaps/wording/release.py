"""Words one release, and a dataset's releases together: promises, parameters, predicted error."""

from collections.abc import Mapping
from typing import Final

from heatmaps import queries
from heatmaps.guides import choices
from heatmaps.guides.chain import Together, together
from heatmaps.guides.choices import Chosen
from heatmaps.models import Dataset, Release
from heatmaps.regions import region_of
from heatmaps.releases.question import data_slice_of
from heatmaps.result_kinds.catalogues import kind_of_mechanism
from heatmaps.result_kinds.entries import entry_of
from heatmaps.wording.data_slice import data_slice_words
from heatmaps.wording.expected_error import ErrorWords
from heatmaps.wording.guarantee import (
    STARTED_FROM,
    added,
    decimal,
    loss,
    priced,
    record_loss,
    sentences,
)
from heatmaps.wording.parameters import value_words
from heatmaps.wording.promise import promise
from heatmaps.wording.unchecked_start import unchecked_of
from mechanisms.guarantee import INFINITY, Guarantee
from mechanisms.space.grid import Region

_LATE: Final = (
    "It was late: its draw took longer than the time that was set for it. That depends on the data and is "
    "not covered by ε; it happens a few times at most in a dataset, as that time doubles each time."
)


_ELSEWHERE: Final = (
    "It goes back to a map of another dataset: for people who are in both, what these maps promise adds up."
)


def result_word(mechanism: str, *, runs_on: str = "stored") -> str:
    """Words a mechanism's result: "map", "point", "map of zones" or "map of distances"."""
    return kind_of_mechanism(mechanism, runs_on=runs_on).word


def for_release(release: Release) -> tuple[str, ...]:
    """Says what one release promises."""
    guarantee = Guarantee.from_json(release.guarantee)
    promised = for_map(guarantee, release.dataset, choices.bound(release), mechanism=release.mechanism)
    promised = (*promised, *release.dataset.origin.sentences(release))
    return (*promised, _LATE) if release.late else promised


def promise_of(release: Release) -> str:
    """Says what one release promises, in one sentence."""
    guarantee = Guarantee.from_json(release.guarantee)
    return promise_for_map(guarantee, release.dataset, choices.bound(release), mechanism=release.mechanism)


def for_map(
    guarantee: Guarantee, dataset: Dataset, start: Chosen | None, *, mechanism: str
) -> tuple[str, ...]:
    """Says what a map of a dataset promises, with all that it goes back to. start: what it begins from."""
    chain = together(dataset, guarantee, start)
    promised = for_guarantee(
        chain.guarantee, dataset, subject=_subject(mechanism, chain, runs_on=dataset.origin.runs_on)
    )
    own = () if chain.is_alone else (added(guarantee),)
    unchecked = unchecked_of(start, dataset.relation)
    elsewhere = (_ELSEWHERE,) if chain.goes_elsewhere else ()
    return (*promised, *own, *elsewhere, *((unchecked.sentence,) if unchecked else ()))


def promise_for_map(guarantee: Guarantee, dataset: Dataset, start: Chosen | None, *, mechanism: str) -> str:
    """Says as `for_map`, in one sentence, and one more each for maps of other datasets and for files."""
    chain = together(dataset, guarantee, start)
    promised = promise_for(
        chain.guarantee, dataset, subject=_subject(mechanism, chain, runs_on=dataset.origin.runs_on)
    )
    more = [_ELSEWHERE] if chain.goes_elsewhere else []
    unchecked = unchecked_of(start, dataset.relation)
    only_if = [f"This holds only if {' and '.join(unchecked.conditions)}."] if unchecked else []
    return " ".join([promised, *more, *only_if])


def _subject(mechanism: str, chain: Together, *, runs_on: str) -> str:
    word = f"this {result_word(mechanism, runs_on=runs_on)}"
    return word if chain.is_alone else f"{word} {STARTED_FROM}"


def for_dataset(dataset: Dataset) -> tuple[str, ...]:
    """Says what everything that was asked for so far promises together."""
    subject = "all releases of this dataset so far together"
    return for_guarantee(queries.total_guarantee(dataset), dataset, subject=subject)


def for_guarantee(guarantee: Guarantee, dataset: Dataset, *, subject: str) -> tuple[str, ...]:
    diameter_m = region_of(dataset).diameter_m
    return sentences(guarantee, subject=subject, radius_m=dataset.radius_m, diameter_m=diameter_m)


def losses_together(dataset: Dataset) -> str:
    """Writes "presence ε = 2.25": what everything that was asked for so far loses at most, in short."""
    guarantee = queries.total_guarantee(dataset)
    if dataset.radius_m is None:  # of the relation that adds and removes
        return f"presence {priced(guarantee.loss(INFINITY), guarantee.delta)}"
    whole = f"whole record ε = {loss(record_loss(guarantee, region_of(dataset).diameter_m))}"
    return f"{whole}, radius {priced(guarantee.loss(dataset.radius_m), guarantee.delta)}"


def promise_for(guarantee: Guarantee, dataset: Dataset, *, subject: str) -> str:
    diameter_m = region_of(dataset).diameter_m
    return promise(guarantee, subject=subject, radius_m=dataset.radius_m, diameter_m=diameter_m)


def error_words(
    mechanism: str, error: Mapping[str, object] | None, region: Region, *, runs_on: str = "stored"
) -> ErrorWords | None:
    """Words a predicted error, as it is stored; None where there is none. region: what the result covers."""
    if error is None:
        return None
    words: ErrorWords = kind_of_mechanism(mechanism, runs_on=runs_on).predicted(error, region)
    return words


def parameter_words(release: Release) -> list[tuple[str, str]]:
    """Returns (title, value) of what every mechanism has, of its own parameters, and of the data slice."""
    titles = {parameter.name: parameter.title for parameter in entry_of(release).parameters}
    own = [(titles.get(name, name), value_words(name, value)) for name, value in release.parameters.items()]
    side = f"{release.resolution} × {release.resolution} cells"
    grid = [] if release.resolution is None else [("Resolution", side)]
    part = data_slice_words(data_slice_of(release), region_of(release.dataset))
    costs = [("ε asked for", decimal(release.epsilon))]
    costs += [("δ asked for", decimal(release.delta, digits=18))] if release.delta else []
    return [*costs, *grid, *own, *part]
