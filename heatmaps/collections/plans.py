"""Works out what a round's devices do, what that promises and what it costs, from public facts alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from heatmaps.ledger import amounts
from heatmaps.ledger.amounts import Charges
from heatmaps.models import AccountKind, Collection, Dataset, Release, Round
from heatmaps.parameters import exact_epsilon, reaching
from heatmaps.regions import region_of
from mechanisms.check import ParameterError, exact_decimal, whole
from mechanisms.devices import catalogue
from mechanisms.devices.plan import DevicePlan
from mechanisms.guarantee import Guarantee, Relation, Trust
from mechanisms.mechanism import Target

SEALED_BYTES: Final = 48  # what sealing adds to a message and to a packet (RFC 9180, X25519 and a tag)
MOST_PACKET_BYTES: Final = 2 * 2**20
MOST_BATCH_BYTES: Final = 2**29  # half an hour of opening
MOST_REPORTS_PER_PERSON: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRequest:
    """A round as a form or the API asks for it; `planned` says what is wrong with it."""

    mechanism: str
    epsilon: str | Fraction  # of one report: at the dataset's radius
    delta: str | Fraction | None = None
    resolution: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    reports_per_person: int = 1
    least_honest: int  # n_min: so many honest reports there will be at least, as the steward declares
    dishonest_share: str | Fraction = "0"  # f


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRound:
    """What a valid request means; public."""

    device: DevicePlan
    epsilon: Fraction
    delta: Fraction
    resolution: int | None
    parameters: Mapping[str, object]
    reports_per_person: int
    least_honest: int
    dishonest_share: Fraction
    most_reports: int
    per_report: Guarantee  # as the sheet has it
    alone: Guarantee  # of a report, where analyser and shuffler work together
    guarantee: Guarantee  # of a person's reports of the round
    charges: Charges

    @property
    def least_reports(self) -> int:
        """⌈n_min / (1 − f)⌉."""
        return least_reports(self.least_honest, self.dishonest_share)

    @property
    def packet_bytes(self) -> int:
        """What a device sends."""
        return SEALED_BYTES + self.device.messages * (SEALED_BYTES + self.device.message_bytes)


def most_reports(dataset: Dataset, reports_per_person: int) -> int:
    """As many invitations as there may be; an open link has one for each person who was declared."""
    return (dataset.persons or 1) * reports_per_person


def least_reports(least_honest: int, dishonest_share: Fraction) -> int:
    return math.ceil(least_honest / (1 - dishonest_share))


def planned(
    dataset: Dataset, collection: Collection, request: RoundRequest, *, is_stored: bool = False
) -> PlannedRound:
    """What a request means. Errors: `ParameterError` naming the field.

    is_stored: it has all of its parameters, whatever limits there are by now.
    """
    entry = catalogue.get(request.mechanism)
    if collection.open_link and not entry.open_groups:
        raise ParameterError(
            "mechanism",
            request.mechanism,
            "another one: by an open link one sender could set any number of it",
        )
    epsilon = exact_epsilon(request.epsilon)
    delta = entry.delta(request.delta)
    whole(1, MOST_REPORTS_PER_PERSON, reports_per_person=request.reports_per_person)
    if collection.open_link and request.reports_per_person != 1:
        allowed = "1: by an open link nobody can count what one person sends"
        raise ParameterError("reports_per_person", request.reports_per_person, allowed)
    most = most_reports(dataset, request.reports_per_person)
    whole(2, most, least_honest=request.least_honest)
    share = exact_decimal("dishonest_share", request.dishonest_share, low=0, high=Fraction(9, 10))
    needed = least_reports(request.least_honest, share)
    if needed > most:
        allowed = f"less: {needed} reports would be needed, and there are at most {most}"
        raise ParameterError("dishonest_share", request.dishonest_share, allowed)
    resolution = entry.side(request.resolution)
    region, parameters = region_of(dataset), dict(request.parameters)
    if not is_stored:
        parameters = reaching(dataset, region, entry.parameters, parameters)
    target = Target(
        relation=Relation.REPLACE,
        epsilon=epsilon,
        delta=delta,
        radius_m=Fraction(dataset.radius_m or 1),
        expected_persons=request.least_honest,
    )
    device = _device(
        entry.name,
        region=region,
        target=target,
        least_honest=request.least_honest,
        most_reports=most,
        resolution=resolution,
        parameters=tuple(sorted(parameters.items())),
    )
    guarantee = promised(device.guarantee(request.reports_per_person), collection)
    if guarantee.delta >= 1:
        allowed = "fewer, or a smaller δ or ε of a report: together they would promise nothing (δ = 1)"
        raise ParameterError("reports_per_person", request.reports_per_person, allowed)
    found = PlannedRound(
        device=device,
        epsilon=epsilon,
        delta=delta,
        resolution=resolution,
        parameters=parameters,
        reports_per_person=request.reports_per_person,
        least_honest=request.least_honest,
        dishonest_share=share,
        most_reports=most,
        per_report=promised(device.per_report, collection),
        alone=device.per_report.if_shuffler_fails or device.per_report,
        guarantee=guarantee,
        charges=amounts.charges(
            relation=Relation.REPLACE,
            radius_m=dataset.radius_m,
            guarantee=guarantee,
            diameter_m=region.diameter_m,
        ),
    )
    _check_size(found)
    return found


def of_round(found: Round) -> PlannedRound:
    """What a stored round means today. Errors: `ParameterError` where that is nothing any more."""
    release = found.release
    request = RoundRequest(
        mechanism=release.mechanism,
        epsilon=release.epsilon,
        delta=release.delta or None,
        resolution=release.resolution,
        parameters=release.parameters,
        reports_per_person=found.reports_per_person,
        least_honest=found.least_honest,
        dishonest_share=found.dishonest_share,
    )
    return planned(release.dataset, release.dataset.collection, request, is_stored=True)


def keeps_promise(release: Release, today: PlannedRound) -> bool:
    return today.guarantee == Guarantee.from_json(release.guarantee)


def promised(guarantee: Guarantee, collection: Collection) -> Guarantee:
    """With one operator for both roles, what is left without a shuffler is all that is promised.

    So it is where anybody may send: whoever reads the result could be the whole crowd but one.
    """
    left = guarantee.if_shuffler_fails
    if guarantee.trust is not Trust.SHUFFLE or left is None:
        return guarantee
    if not collection.has_two_operators:
        return replace(left, simulated=True)
    return left if collection.open_link else guarantee


def loss_facts(per_report: Guarantee, dataset: Dataset) -> dict[str, str]:
    """Of one report, in texts of a ledger's precision, rounded up; "inf": no bound."""
    costs = amounts.charges(
        relation=Relation.REPLACE,
        radius_m=dataset.radius_m,
        guarantee=per_report,
        diameter_m=region_of(dataset).diameter_m,
    )
    texts = {
        kind: "inf" if units is None else amounts.as_decimal(units, kind) for kind, units in costs.items()
    }
    return {
        "epsilon": texts[AccountKind.RADIUS],
        "record_epsilon": texts[AccountKind.RECORD],
        "delta": texts[AccountKind.DELTA],
        "radius_m": str(dataset.radius_m),
    }


def _check_size(plan: PlannedRound) -> None:
    if plan.packet_bytes > MOST_PACKET_BYTES:
        raise ParameterError(
            "resolution",
            plan.resolution or "none",
            f"less: a report would have {plan.device.messages} messages, {plan.packet_bytes} bytes; "
            f"{MOST_PACKET_BYTES} are the most",
        )
    batch = plan.most_reports * plan.packet_bytes
    if batch > MOST_BATCH_BYTES:
        raise ParameterError(
            "mechanism", plan.device.name, f"one with fewer messages: all reports would have {batch} bytes"
        )


def _device(name: str, **facts: Any) -> DevicePlan:
    """Errors: `ParameterError`, remembered as plans are: some take seconds to be found."""
    found = _built(name, **facts)
    if isinstance(found, ParameterError):
        raise ParameterError(found.parameter, found.value, found.allowed)
    return found


@lru_cache(maxsize=32)
def _built(
    name: str, *, parameters: tuple[tuple[str, object], ...], **facts: Any
) -> DevicePlan | ParameterError:
    try:
        return catalogue.build(name, parameters=dict(parameters), **facts)
    except ParameterError as refusal:
        return refusal
