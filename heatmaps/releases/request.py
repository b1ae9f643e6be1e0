"""Turns a request into a plan: what would draw its answer and what that costs, without any data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Self

from heatmaps.data_slice import DataSlice, Edge
from heatmaps.guides import choices, epsilons
from heatmaps.guides.choices import Chosen
from heatmaps.ledger import amounts
from heatmaps.models import Dataset, DataVersion, Release
from heatmaps.regions import region_of, text_of
from heatmaps.releases import slice_guarantee
from heatmaps.releases.parameters import exact_epsilon
from mechanisms.catalogue import registry
from mechanisms.catalogue.entries import Entry
from mechanisms.check import ParameterError
from mechanisms.expected_error import ExpectedError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.guide import Guide
from mechanisms.mechanism import Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTerms:
    """Says how many reports a round of devices counts on, as a form or the API sends it."""

    reports_per_person: int = 1
    least_honest: int  # n_min: so many honest reports there will be at least, as the steward declares
    dishonest_share: str | Fraction = "0"  # f


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """Holds a question as a form or the API sends it; `Plan.of` says what is wrong with it."""

    mechanism: str
    # A plain decimal as it was typed, or what was found; of a round: that of one report, at the radius.
    epsilon: str | Fraction
    delta: str | Fraction | None = None  # a plain decimal; None: what the mechanism usually takes
    resolution: int | None = None  # cells a side, of a map
    parameters: Mapping[str, object] = field(default_factory=dict)
    since: str | None = None  # as `data_slice.moment` reads it: from then on
    until: str | None = None  # before then
    rectangle: Sequence[Edge] | None = None  # west, south, east, north in degrees, inside the region
    guide: str | None = None  # the id of a published map or of a guide file; None: the map begins from none
    round: RoundTerms | None = None  # of devices; None: check-ins are stored


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawTerms:
    """Says exactly what is to be drawn, whether it is asked for or stored."""

    entry: Any  # of the catalogue of the dataset's origin
    epsilon: Fraction
    delta: Fraction
    resolution: int | None
    parameters: Mapping[str, object]  # the mechanism's own
    guide: Guide | None = None  # a map that is public already; steers utility only
    version: int | None = None  # of the mechanism; None: the newest
    round: RoundTerms | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Says what would answer a valid question, what that promises and what it costs; public."""

    terms: DrawTerms
    draw: Any  # a `readings.Draw` of stored check-ins, or a `RoundDraw` of devices
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
        entry: Entry = dataset.origin.entry(request.mechanism)
        delta = entry.delta(request.delta)
        guide = None if request.guide is None else _guide(dataset, request, request.guide, epsilon)
        terms = DrawTerms(
            entry=entry,
            epsilon=epsilon,
            delta=delta,
            resolution=request.resolution,
            parameters=request.parameters,
            guide=None if guide is None else guide.guide,
            round=request.round,
        )
        draw = dataset.origin.draw(dataset, terms)
        region = region_of(dataset)
        diameter_m = region.diameter_m
        data_slice = DataSlice.parse(
            region,
            since=request.since,
            until=request.until,
            rectangle=request.rectangle,
            resolution=draw.resolution or 1,
        )
        draw.check(data_slice)
        if data_slice.has_period and not dataset.origin.has_times(dataset):
            name, moment = ("since", request.since) if request.since else ("until", request.until)
            raise ParameterError(name, moment, "nothing: the table of this dataset has no times")
        guarantee = slice_guarantee.promised(
            draw.guarantee, by_period=data_slice.has_period, diameter_m=diameter_m
        )
        charges = amounts.charges(
            relation=Relation(dataset.relation),
            radius_m=dataset.radius_m,
            guarantee=guarantee,
            diameter_m=diameter_m,
        )
        return cls(
            terms=terms,
            draw=draw,
            data_slice=data_slice,
            guide=guide,
            guarantee=guarantee,
            charges=charges,
        )

    @property
    def mechanism(self) -> Mechanism:
        """Returns the mechanism that would draw from stored check-ins, calibrated."""
        mechanism: Mechanism = self.draw.mechanism
        return mechanism

    def expected_error(self, dataset: Dataset) -> ExpectedError | None:
        """Returns the error to expect, from public facts; None where nothing public says so."""
        error: ExpectedError | None = self.draw.expected_error(dataset, self.data_slice)
        return error

    def question(self, version: DataVersion) -> str:
        """Returns the SHA-256 of the question about a data version: equal questions have equal answers."""
        digest: str = self.draw.question(Release(id=None, **self._question_columns(version)))
        return digest

    def release(self, version: DataVersion, **columns: Any) -> Release:
        """Returns a release, not saved, that asks this question about a data version.

        columns: what the question does not say, such as who asks it.
        """
        dataset, error = version.dataset, self.expected_error(version.dataset)
        release = Release(
            **self._question_columns(version),
            dataset=dataset,
            covered=text_of(self.data_slice.region(region_of(dataset))),
            guarantee=self.guarantee.to_json(),
            expected_error=None if error is None else asdict(error),
            **columns,
        )
        release.question = self.draw.question(release)
        return release

    def _question_columns(self, version: DataVersion) -> dict[str, Any]:
        guide = self.guide
        return {
            "version": version,
            "mechanism": self.draw.name,
            "epsilon": self.terms.epsilon,
            "delta": self.terms.delta,
            "resolution": self.draw.resolution,
            "parameters": dict(self.draw.parameters),
            "mechanism_version": self.draw.version,
            "guide_release": None if guide is None else guide.release,
            "guide_file": None if guide is None else guide.file,
            "guide_sha256": "" if guide is None else guide.guide.sha256,
            "since": self.data_slice.since,
            "until": self.data_slice.until,
            "rectangle": self.data_slice.edges,
        }


def _guide(dataset: Dataset, request: ReleaseRequest, guide_id: str, epsilon: Fraction) -> Chosen:
    """Returns the public map that a request names.

    Errors: `ParameterError`, also where none may be named.
    """
    entry = registry.get(request.mechanism)
    if not entry.takes_guide:
        raise ParameterError("guide", guide_id, f"none: {entry.name} uses no guide")
    data_slice = DataSlice.parse(
        region_of(dataset), since=request.since, until=request.until, rectangle=request.rectangle
    )
    guide = choices.resolved(dataset, guide_id, data_slice)
    allowed = epsilons.epsilons(dataset, entry.name, request.parameters)
    if allowed is None or not allowed[0] <= epsilon <= allowed[1]:
        raise epsilons.refusal(guide_id, dataset, entry.name, request.parameters)
    return guide
