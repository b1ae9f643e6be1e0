"""Turns a request into a plan: the mechanism that would answer it and what that costs, without any data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from heatmaps.data_slice import DataSlice, Edge
from heatmaps.guides import choices, epsilons
from heatmaps.guides.choices import Chosen
from heatmaps.ledger import amounts
from heatmaps.models import Dataset, DataVersion
from heatmaps.parameters import exact_epsilon
from heatmaps.regions import region_of
from heatmaps.releases import calibration, question, readings, slice_guarantee
from heatmaps.releases.readings import Cost, Draw, Steering
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.error_bounds import ExpectedError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.mechanism import Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """A question as a form or the API sends it; `quote` says what is wrong with it."""

    mechanism: str
    epsilon: str | Fraction  # a plain decimal as it was typed, or what was found
    delta: str | None = None  # a plain decimal; None: what the mechanism usually takes
    resolution: int | None = None  # cells a side, of a map
    parameters: Mapping[str, object] = field(default_factory=dict)
    since: str | None = None  # as `data_slice.moment` reads it: from then on
    until: str | None = None  # before then
    rectangle: Sequence[Edge] | None = None  # west, south, east, north in degrees, inside the region
    guide: str | None = None  # the id of a published map or of a guide file; None: the map begins from none


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A valid question: the mechanism that would answer it and what that costs."""

    draw: Draw
    delta: Fraction
    parameters: Mapping[str, int | str]  # all of them, in the one spelling that is stored
    data_slice: DataSlice
    guide: Chosen | None
    guarantee: Guarantee  # of the release; the mechanism's own may say more
    charges: amounts.Charges

    @classmethod
    def of(cls, dataset: Dataset, request: ReleaseRequest) -> Self:
        """Checks everything that can be checked without data. Errors: `ParameterError`."""
        epsilon = exact_epsilon(request.epsilon)
        if not isinstance(request.parameters, Mapping):
            raise ParameterError("parameters", request.parameters, "an object of names and values")
        delta = registry.get(request.mechanism).delta(request.delta)
        guide = _guide(dataset, request, epsilon)
        draw = readings.planned(
            dataset,
            request.mechanism,
            Cost(epsilon=epsilon, delta=delta),
            request.resolution,
            request.parameters,
            steering=Steering(guide=None if guide is None else guide.guide),
            build=calibration.calibrated,
        )
        data_slice = DataSlice.parse(
            region_of(dataset),
            since=request.since,
            until=request.until,
            rectangle=request.rectangle,
            resolution=draw.resolution or 1,
        )
        draw.check(data_slice)
        if data_slice.has_period and not dataset.origin.has_times(dataset):
            field_name, asked = ("since", request.since) if request.since else ("until", request.until)
            raise ParameterError(field_name, asked, "nothing: the table of this dataset has no times")
        guarantee = slice_guarantee.promise(dataset, draw.guarantee, data_slice)
        return cls(
            draw=draw,
            delta=delta,
            parameters=question.spelled(draw.mechanism),
            data_slice=data_slice,
            guide=guide,
            guarantee=guarantee,
            charges=amounts.charges(
                relation=Relation(dataset.relation),
                radius_m=dataset.radius_m,
                guarantee=guarantee,
                diameter_m=region_of(dataset).diameter_m,
            ),
        )

    @property
    def mechanism(self) -> Mechanism:
        mechanism: Mechanism = self.draw.mechanism
        return mechanism

    @property
    def epsilon(self) -> Fraction:
        """Returns the ε that was asked for."""
        return self.mechanism.epsilon

    @property
    def guide_sha256(self) -> str:
        """Empty without a guide."""
        return "" if self.guide is None else self.guide.guide.sha256

    def question(self, version: DataVersion) -> str:
        """SHA-256 of the question about a data version: equal questions have equal answers."""
        return question.digest(
            version,
            mechanism=self.mechanism.name,
            epsilon=self.epsilon,
            delta=self.delta,
            resolution=self.draw.resolution,
            parameters=self.parameters,
            mechanism_version=self.draw.entry.version,
            guide_sha256=self.guide_sha256,
            data_slice=self.data_slice,
        )

    def expected_error(self, dataset: Dataset) -> ExpectedError | None:
        return self.draw.expected_error(dataset, self.data_slice)


def _guide(dataset: Dataset, request: ReleaseRequest, epsilon: Fraction) -> Chosen | None:
    """The public map that is named. Errors: `ParameterError`, also where none may be named."""
    if request.guide is None:
        return None
    entry = registry.get(request.mechanism)
    if not entry.takes_guide:
        raise ParameterError("guide", request.guide, f"none: {entry.name} uses no guide")
    data_slice = DataSlice.parse(
        region_of(dataset), since=request.since, until=request.until, rectangle=request.rectangle
    )
    chosen = choices.resolved(dataset, request.guide, data_slice)
    allowed = epsilons.epsilons(dataset, entry.name, request.parameters)
    if allowed is None or not allowed[0] <= epsilon <= allowed[1]:
        raise epsilons.refusal(request.guide, dataset, entry.name, request.parameters)
    return chosen
