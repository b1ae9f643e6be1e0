"""Quotes a release's cost and predicted error from public facts alone; writes nothing."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from django.conf import settings

from heatmaps import sources
from heatmaps.data_slice import DataSlice, Edge
from heatmaps.guides import choices, epsilons
from heatmaps.guides.choices import Chosen
from heatmaps.ledger import amounts, balances
from heatmaps.ledger.balances import Balance
from heatmaps.ledger.errors import BudgetExceeded, LedgerError, UnboundedCharge
from heatmaps.models import AccountKind, Dataset, DataVersion, Release, ReleaseState
from heatmaps.models.fraction_field import fraction_text
from heatmaps.regions import region_of
from heatmaps.releases import calibration, readings, slice_guarantee
from heatmaps.releases.readings import Cost, Draw, Steering
from mechanisms.catalogue import registry
from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.error_bounds import ExpectedError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.mechanism import Mechanism
from mechanisms.results.distances import Places
from mechanisms.results.zones import Zones


class NoDataVersion(LedgerError):  # noqa: N818 - as the other domain errors
    """Nothing was made available in the dataset yet; whether it was is public."""

    code = "no_data_version"

    def __init__(self) -> None:
        super().__init__(
            "this dataset has no data version yet: a steward has to upload check-ins and make them "
            "available first, or make a version of a table in a lake"
        )


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
class ChargeLine:
    """What a release costs on one account, in the account's units; an amount of None has no bound."""

    kind: AccountKind
    amount: int | None
    limit: int | None
    committed: int
    available: int | None  # None: no limit
    affordable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The exact cost. `problem` is empty, or the readable reason why it would be refused now."""

    request: ReleaseRequest
    data_slice: DataSlice
    epsilon: Fraction
    delta: Fraction  # as asked for, or the mechanism's usual one
    guarantee: Guarantee
    on_devices: Guarantee | None  # of the same protocol with a shuffler, where this one simulates it
    lines: tuple[ChargeLine, ...]
    expected_error: ExpectedError | None  # None: no public number of persons to reckon with
    guide: Chosen | None
    expected_error_without_guide: ExpectedError | None  # None, too, where no guide is named
    is_in_rectangles: bool  # the map would state no errors of sums, as its guide says where people are
    affordable: bool
    problem: str
    same_release: Release | None  # a published answer to the same question: free


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

    @property
    def mechanism(self) -> Mechanism:
        mechanism: Mechanism = self.draw.mechanism
        return mechanism

    @property
    def epsilon(self) -> Fraction:
        """As asked for."""
        return self.mechanism.epsilon

    @property
    def guide_sha256(self) -> str:
        """Empty without a guide."""
        return "" if self.guide is None else self.guide.guide.sha256

    def question(self, version: DataVersion) -> str:
        """SHA-256 of the question about a data version: equal questions have equal answers."""
        return _question(
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


def plan(dataset: Dataset, request: ReleaseRequest) -> Plan:
    """Check everything that can be checked without data. Errors: `ParameterError`."""
    epsilon = exact_decimal("epsilon", request.epsilon, low=settings.MIN_EPSILON, high=settings.MAX_EPSILON)
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
    if dataset.source and data_slice.has_period and not sources.has_times(dataset):
        field_name, asked = ("since", request.since) if request.since else ("until", request.until)
        raise ParameterError(field_name, asked, "nothing: the table of this dataset has no times")
    guarantee = promise(dataset, draw.guarantee, data_slice)
    return Plan(
        draw=draw,
        delta=delta,
        parameters=_spelled(draw.mechanism),
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


def promise(dataset: Dataset, guarantee: Guarantee, data_slice: DataSlice) -> Guarantee:
    """What a release about a data slice promises, by a mechanism of that guarantee."""
    diameter_m = region_of(dataset).diameter_m
    return slice_guarantee.promised(guarantee, by_period=data_slice.has_period, diameter_m=diameter_m)


def data_slice_of(release: Release) -> DataSlice:
    """What a stored release asks about."""
    return DataSlice.stored(release.since, release.until, release.rectangle)


def question_of(release: Release) -> str:
    """Returns `Plan.question` of a stored release, from its other columns."""
    return _question(
        release.version,
        mechanism=release.mechanism,
        epsilon=release.epsilon,
        delta=release.delta,
        resolution=release.resolution,
        parameters=release.parameters,
        mechanism_version=release.mechanism_version,
        guide_sha256=release.guide_sha256,
        data_slice=data_slice_of(release),
    )


def quote(dataset: Dataset, request: ReleaseRequest) -> Quote:
    """The exact cost and the predicted error of a release. Errors: `ParameterError`."""
    planned = plan(dataset, request)
    lines, refused = _lines(balances.balances(dataset), planned.charges)
    version = latest_version(dataset)
    same = None if version is None else same_release(dataset, planned.question(version))
    if version is None:
        refused = [NoDataVersion()]
    elif same is not None:
        refused = []
    return Quote(
        request=request,
        data_slice=planned.data_slice,
        epsilon=planned.epsilon,
        delta=planned.delta,
        guarantee=planned.guarantee,
        on_devices=planned.draw.on_devices,
        lines=lines,
        expected_error=planned.expected_error(dataset),
        guide=planned.guide,
        expected_error_without_guide=_unguided_error(dataset, planned),
        is_in_rectangles=isinstance(planned.mechanism, Adaptive) and planned.mechanism.is_in_rectangles,
        affordable=not refused,
        problem=str(refused[0]) if refused else "",
        same_release=same,
    )


def draw_of(release: Release) -> Draw:
    """The draw that a stored release asked for, with its guide and by its version.

    Errors: `ParameterError` if it is gone by now.
    """
    texts = [
        one.name for one in registry.get(release.mechanism).parameters if one.kind in ("zones", "places")
    ]
    parameters = {
        name: value if name in texts else Fraction(value) for name, value in release.parameters.items()
    }
    cost = Cost(epsilon=release.epsilon, delta=release.delta)
    steering = Steering(guide=choices.bound_guide(release), version=release.mechanism_version)
    return readings.planned(
        release.dataset, release.mechanism, cost, release.resolution, parameters, steering=steering
    )


def refusals(held: Sequence[Balance], charges: amounts.Charges) -> Mapping[AccountKind, LedgerError | None]:
    """What the ledger would answer now, by account; None where a charge fits."""
    return {balance.kind: _refusal(balance, charges[balance.kind]) for balance in held}


def latest_version(dataset: Dataset) -> DataVersion | None:
    return DataVersion.objects.filter(dataset=dataset).order_by("-number").first()


def same_release(dataset: Dataset, question: str) -> Release | None:
    """A published release that answered the question; the first, if it was answered more than once."""
    published = Release.objects.filter(dataset=dataset, question=question, state=ReleaseState.PUBLISHED)
    return published.order_by("requested_at").first()


_MOST_DIGITS: Final = 80  # after the point: a text of 40 characters with an exponent of -30 has fewer


def _question(
    version: DataVersion,
    *,
    mechanism: str,
    epsilon: Fraction,
    delta: Fraction,
    resolution: int | None,
    parameters: Mapping[str, int | str],
    mechanism_version: int,
    guide_sha256: str,
    data_slice: DataSlice,
) -> str:
    body = {
        "dataset": version.dataset_id,
        "version": version.number,
        "mechanism": mechanism,
        "epsilon": fraction_text(epsilon),
        "resolution": resolution,
        "parameters": parameters,
        **({"delta": fraction_text(delta)} if delta else {}),
        **({"guide": guide_sha256} if guide_sha256 else {}),
        # Left out as in questions of before, which only the first versions answered.
        **({"mechanism_version": mechanism_version} if mechanism_version > 1 else {}),
        **data_slice.facts(),
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


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


def _unguided_error(dataset: Dataset, planned: Plan) -> ExpectedError | None:
    """What the same question would have to expect if it named no guide."""
    if planned.guide is None:
        return None
    draw = readings.planned(
        dataset,
        planned.mechanism.name,
        Cost(epsilon=planned.epsilon, delta=planned.delta),
        planned.draw.resolution,
        planned.parameters,
    )
    return draw.expected_error(dataset, planned.data_slice)


def _spelled(mechanism: Mechanism) -> dict[str, int | str]:
    """Every parameter, those left to the mechanism included: an int, the shortest decimal, or a text."""
    values = {
        parameter.name: getattr(mechanism, parameter.name)
        for parameter in registry.get(mechanism.name).parameters
    }
    return {name: _spelling(value) for name, value in values.items()}


def _spelling(value: int | Fraction | Zones | Places) -> int | str:
    if isinstance(value, Zones | Places):
        return value.text
    return value if isinstance(value, int) else _decimal(value)


def _decimal(value: Fraction) -> str:
    """The shortest plain spelling. Errors: ValueError if there is no finite one."""
    units = abs(value) * 10**_MOST_DIGITS
    if units.denominator != 1:
        raise ValueError("a parameter has no finite decimal spelling")
    whole, digits = divmod(units.numerator, 10**_MOST_DIGITS)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{digits:0{_MOST_DIGITS}}".rstrip("0").rstrip(".")


def _lines(held: list[Balance], charges: amounts.Charges) -> tuple[tuple[ChargeLine, ...], list[LedgerError]]:
    refused = refusals(held, charges)
    lines = tuple(
        ChargeLine(
            kind=balance.kind,
            amount=charges[balance.kind],
            limit=balance.limit,
            committed=balance.committed,
            available=balance.available,
            affordable=refused[balance.kind] is None,
        )
        for balance in held
    )
    return lines, [refusal for refusal in refused.values() if refusal is not None]


def _refusal(balance: Balance, amount: int | None) -> LedgerError | None:
    """What the ledger would answer now."""
    if balance.available is None:
        return None
    if amount is None:
        return UnboundedCharge(balance.kind)
    if amount <= balance.available:
        return None
    return BudgetExceeded(
        balance.kind, requested=amount, available=balance.available, reserved=balance.reserved
    )
