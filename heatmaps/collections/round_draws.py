"""Works out what a round's devices do, and what that promises, from public facts alone."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from heatmaps.data_slice import DataSlice
from heatmaps.ledger import amounts
from heatmaps.models import AccountKind, Collection, Dataset, Release, Round
from heatmaps.regions import region_of
from heatmaps.releases.parameters import exact_epsilon, reaching
from heatmaps.releases.request import DrawTerms, RoundTerms
from mechanisms.check import ParameterError, exact_decimal, whole
from mechanisms.devices import catalogue
from mechanisms.devices.catalogue import DeviceEntry
from mechanisms.devices.plan import DevicePlan
from mechanisms.expected_error import ErrorBound, PointError
from mechanisms.guarantee import Guarantee, Relation, Trust
from mechanisms.mechanism import Target

SEALED_BYTES: Final = 48  # what sealing adds to a message and to a packet (RFC 9180, X25519 and a tag)
MOST_PACKET_BYTES: Final = 2 * 2**20
MOST_BATCH_BYTES: Final = 2**29  # half an hour of opening
MOST_REPORTS_PER_PERSON: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDraw:
    """Says what the devices of a round do, and what is read of their reports; public."""

    device: DevicePlan
    resolution: int | None  # cells a side; None: what is released has none
    parameters: Mapping[str, object]
    reports_per_person: int
    least_honest: int
    dishonest_share: Fraction
    most_reports: int
    per_report: Guarantee  # as the sheet has it
    alone: Guarantee  # of a report, where analyser and shuffler work together
    guarantee: Guarantee  # of a person's reports of the round
    version: int = 1  # of the mechanism

    @property
    def name(self) -> str:
        """Returns the mechanism's name in the catalogue of devices."""
        return self.device.name

    def check(self, data_slice: DataSlice) -> None:
        """Does nothing: a round is asked about nothing but all of its reports."""

    def expected_error(self, dataset: Dataset, data_slice: DataSlice) -> ErrorBound | PointError:  # noqa: ARG002
        """Predicts the error of a round with the fewest reports."""
        return self.device.expected_error(self.least_reports)

    def question(self, release: Release) -> str:
        """Returns the digest of the question that a round's release asks, from its other columns."""
        return _question(release, self)

    @property
    def least_reports(self) -> int:
        """Returns the fewest reports with which something is published: ⌈n_min / (1 − f)⌉."""
        return least_reports(self.least_honest, self.dishonest_share)

    @property
    def packet_bytes(self) -> int:
        """Returns the bytes of one report, as a device sends it."""
        return SEALED_BYTES + self.device.messages * (SEALED_BYTES + self.device.message_bytes)


def most_reports(dataset: Dataset, reports_per_person: int) -> int:
    """Returns the largest number of invitations."""
    # An open link has one for each person who was declared.
    return (dataset.persons or 1) * reports_per_person


def least_reports(least_honest: int, dishonest_share: Fraction) -> int:
    """Returns the fewest reports of which so many are honest: ⌈n_min / (1 − f)⌉."""
    return math.ceil(least_honest / (1 - dishonest_share))


def check_mechanism(collection: Collection, name: str) -> None:
    """Refuses a mechanism that rounds of a collection may not use. Errors: `ParameterError`."""
    entry = catalogue.get(name)
    if collection.open_link and not entry.open_groups:
        raise ParameterError(
            "mechanism", name, "another one: by an open link one sender could set any number of it"
        )


def draw_for(dataset: Dataset, terms: DrawTerms, *, is_stored: bool = False) -> RoundDraw:
    """Returns the draw of some terms. Errors: `ParameterError` naming the field.

    is_stored: they have all parameters, whatever limits there are by now.
    """
    entry: DeviceEntry = terms.entry
    collection = dataset.collection
    if terms.round is None:
        raise ValueError("round is missing, allowed: the terms of a round, in a collection")
    reports_per_person, least_honest = terms.round.reports_per_person, terms.round.least_honest
    whole(1, MOST_REPORTS_PER_PERSON, reports_per_person=reports_per_person)
    if collection.open_link and reports_per_person != 1:
        allowed = "1: by an open link nobody can count what one person sends"
        raise ParameterError("reports_per_person", reports_per_person, allowed)
    most = most_reports(dataset, reports_per_person)
    whole(2, most, least_honest=least_honest)
    share = exact_decimal("dishonest_share", terms.round.dishonest_share, low=0, high=Fraction(9, 10))
    needed = least_reports(least_honest, share)
    if needed > most:
        allowed = f"less: {needed} reports would be needed, and there are at most {most}"
        raise ParameterError("dishonest_share", terms.round.dishonest_share, allowed)
    resolution = entry.side(terms.resolution)
    region, parameters = region_of(dataset), dict(terms.parameters)
    if not is_stored:
        parameters = reaching(dataset, region, entry.parameters, parameters)
    target = Target(
        relation=Relation.REPLACE,
        epsilon=terms.epsilon,
        delta=terms.delta,
        radius_m=Fraction(dataset.radius_m or 1),
        expected_persons=least_honest,
    )
    device = _device(
        entry.name,
        region=region,
        target=target,
        least_honest=least_honest,
        most_reports=most,
        resolution=resolution,
        parameters=tuple(sorted(parameters.items())),
    )
    guarantee = promised(device.guarantee(reports_per_person), collection)
    if guarantee.delta >= 1:
        allowed = "fewer, or a smaller δ or ε of a report: together they would promise nothing (δ = 1)"
        raise ParameterError("reports_per_person", reports_per_person, allowed)
    draw = RoundDraw(
        device=device,
        resolution=resolution,
        parameters=parameters,
        reports_per_person=reports_per_person,
        least_honest=least_honest,
        dishonest_share=share,
        most_reports=most,
        per_report=promised(device.per_report, collection),
        alone=device.per_report.if_shuffler_fails or device.per_report,
        guarantee=guarantee,
    )
    _check_size(draw)
    return draw


def draw_of(collection_round: Round) -> RoundDraw:
    """Returns the draw of a stored round as of today. Errors: `ParameterError` where there is none now."""
    release = collection_round.release
    check_mechanism(release.dataset.collection, release.mechanism)
    entry = catalogue.get(release.mechanism)
    terms = DrawTerms(
        entry=entry,
        epsilon=exact_epsilon(release.epsilon),
        delta=entry.delta(release.delta or None),
        resolution=release.resolution,
        parameters=release.parameters,
        round=RoundTerms(
            reports_per_person=collection_round.reports_per_person,
            least_honest=collection_round.least_honest,
            dishonest_share=collection_round.dishonest_share,
        ),
    )
    return draw_for(release.dataset, terms, is_stored=True)


def stored_question(release: Release) -> str:
    """Returns the digest of what the round of a stored release asks."""
    return _question(release, release.round)


def keeps_promise(release: Release, today: RoundDraw) -> bool:
    """Tells whether today's program promises what a round was charged for."""
    return today.guarantee == Guarantee.from_json(release.guarantee)


def promised(guarantee: Guarantee, collection: Collection) -> Guarantee:
    """Returns the worth of a mechanism's guarantee in a collection."""
    left = guarantee.if_shuffler_fails
    if guarantee.trust is not Trust.SHUFFLE or left is None:
        return guarantee
    # With one operator for both roles, what is left without a shuffler is all that is promised. So it is
    # where anybody may send: whoever reads the result could be the whole crowd but one.
    if not collection.has_two_operators:
        return replace(left, simulated=True)
    return left if collection.open_link else guarantee


def loss_facts(per_report: Guarantee, dataset: Dataset) -> dict[str, str]:
    """Returns the losses of one report as texts of a ledger's precision, rounded up; "inf": no bound."""
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


def _question(release: Release, terms: RoundDraw | Round) -> str:
    """Returns the SHA-256 of what a round asks; no other asks it, as each is a data version of its own."""
    body = {
        "dataset": release.version.dataset_id,
        "version": release.version.number,
        "mechanism": release.mechanism,
        "epsilon": str(release.epsilon),
        "delta": str(release.delta),
        "resolution": release.resolution,
        "parameters": {name: str(value) for name, value in release.parameters.items()},
        "reports_per_person": terms.reports_per_person,
        "least_honest": terms.least_honest,
        "dishonest_share": str(terms.dishonest_share),
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _check_size(draw: RoundDraw) -> None:
    if draw.packet_bytes > MOST_PACKET_BYTES:
        raise ParameterError(
            "resolution",
            draw.resolution or "none",
            f"less: a report would have {draw.device.messages} messages, {draw.packet_bytes} bytes; "
            f"{MOST_PACKET_BYTES} are the most",
        )
    batch = draw.most_reports * draw.packet_bytes
    if batch > MOST_BATCH_BYTES:
        raise ParameterError(
            "mechanism", draw.device.name, f"one with fewer messages: all reports would have {batch} bytes"
        )


def _device(name: str, **facts: Any) -> DevicePlan:
    """Builds what devices do. Errors: `ParameterError`."""
    # Refusals are remembered as answers are: some take seconds to be found.
    answer = _built(name, **facts)
    if isinstance(answer, ParameterError):
        raise ParameterError(answer.parameter, answer.value, answer.allowed)
    return answer


@lru_cache(maxsize=32)
def _built(
    name: str, *, parameters: tuple[tuple[str, object], ...], **facts: Any
) -> DevicePlan | ParameterError:
    try:
        return catalogue.build(name, parameters=dict(parameters), **facts)
    except ParameterError as refusal:
        return refusal
