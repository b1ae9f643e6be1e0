"""Plans and shows the rounds of a collection."""

from dataclasses import asdict, fields
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from api import pagination
from api.addresses import Addresses
from api.schema import LOCATION, example, listing, operation
from api.serializers.collections import (
    DeviceMechanismOut,
    RoundIn,
    RoundOut,
    RoundQuestionIn,
    RoundQuoteOut,
    ShufflerTokenOut,
)
from api.serializers.fields import Strict
from api.views.shared import ApiView, body
from heatmaps.collections import collection, rounds
from heatmaps.collections.page import page_sha384
from heatmaps.collections.round_draws import RoundDraw
from heatmaps.ledger.amounts import as_decimal
from heatmaps.models import Dataset, Round, Scope
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.releases.request import Plan, ReleaseRequest, RoundTerms
from heatmaps.wording.collection import influence_words
from heatmaps.wording.release import for_guarantee
from mechanisms.devices import catalogue

_QUESTION = {"mechanism": "geo-shuffle", "epsilon": "1", "delta": "0.000001", "least_honest": 200}


class DeviceMechanismsView(ApiView):
    scopes = {"GET": Scope.READ}

    @listing("device_mechanisms_list", DeviceMechanismOut)
    def get(self, request: Request) -> Response:
        """List what devices may do. In the order it is offered."""
        return pagination.page(request, catalogue.entries(), DeviceMechanismOut)


class RoundsView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}

    @listing("rounds_list", RoundOut)
    def get(self, request: Request, slug: str) -> Response:
        """List a collection's rounds, latest first."""
        dataset = dataset_for(request.user, slug)
        return pagination.page(request, rounds.rounds_of(dataset), lambda row: _round(request, row))

    @operation(
        "rounds_plan",
        RoundOut,
        (404, 409, 422),
        status=201,
        parameters=[LOCATION],
        request=RoundIn,
        examples=[
            example(
                {**_QUESTION, "opens_at": "2027-03-01T06:00:00Z", "closes_at": "2027-03-08T06:00:00Z"},
                title="A week of reports",
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Plan a round. Its cost is reserved now, and given back if it is cancelled before it opens."""
        dataset = dataset_for(request.user, slug, Act.PLAN_ROUNDS)
        typed = body(request, RoundIn)
        moments = {name: typed.pop(name) for name in ("opens_at", "closes_at")}
        new_round = rounds.plan(request.user, dataset, _question(typed), page_sha384=page_sha384(), **moments)
        answer = _round(request, rounds.round_of(dataset, new_round.number))
        return Response(answer, 201, headers={"Location": answer["links"]["self"]})


class RoundQuotesView(ApiView):
    scopes = {"POST": Scope.READ}

    @operation(
        "rounds_quote",
        RoundQuoteOut,
        (404, 409, 422),
        request=RoundQuestionIn,
        examples=[example(_QUESTION, title="A central point")],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Quote a round. What it would promise, cost and ask of devices; nothing is spent."""
        dataset = dataset_for(request.user, slug)
        plan = rounds.quote(dataset, _question(body(request, RoundQuestionIn)))
        return Response(_quote(dataset, plan))


class RoundOfCollectionView(ApiView):
    scopes = {"GET": Scope.READ}

    @operation("rounds_read", RoundOut, (404,))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Show a round."""
        return Response(_round(request, rounds.round_of(dataset_for(request.user, slug), number)))


class CancelRoundView(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @operation("rounds_cancel", RoundOut, (404, 409, 413, 415))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Cancel a round before it opens. Its charge is given back. Takes no body."""
        dataset = dataset_for(request.user, slug, Act.PLAN_ROUNDS)
        body(request, Strict)
        rounds.cancel(request.user, rounds.round_of(dataset, number))
        return Response(_round(request, rounds.round_of(dataset, number)))


class ShufflerTokenView(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @operation("shuffler_token_make", ShufflerTokenOut, (404, 409, 413, 415), status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Make the token by which a collection's shuffler signs in. The one before works no longer. Takes no
        body."""
        dataset = dataset_for(request.user, slug, Act.PLAN_ROUNDS)
        body(request, Strict)
        token = collection.new_token(rounds.collection_of(dataset))
        return Response({"token": token}, 201)


def _question(typed: dict[str, Any]) -> ReleaseRequest:
    values = {name: value for name, value in typed.items() if value is not None}
    terms = {part.name: values.pop(part.name) for part in fields(RoundTerms) if part.name in values}
    return ReleaseRequest(**values, round=RoundTerms(**terms))


def _round(request: Request, row: Round) -> dict[str, Any]:
    release, dataset = row.release, row.release.dataset
    address = Addresses(request)
    links = {
        "self": address("round", dataset.slug, str(row.number)),
        "release": address("release", release.pk),
    }
    values = {
        "number": row.number,
        "state": rounds.state_of(row),
        "mechanism": release.mechanism,
        "epsilon": release.epsilon,
        "delta": release.delta,
        "resolution": release.resolution,
        "reports_per_person": row.reports_per_person,
        "least_honest": row.least_honest,
        "dishonest_share": row.dishonest_share,
        "least_reports": rounds.least_reports_of(row),
        "opens_at": row.opens_at,
        "closes_at": row.closes_at,
        "invitations": row.invitations,
        "reports": rounds.reports_of(row),
        "facts_sha256": row.facts_sha256,
        "facts": row.facts,
        "links": links,
    }
    return dict(RoundOut(values).data)


def _quote(dataset: Dataset, plan: Plan) -> dict[str, Any]:
    draw: RoundDraw = plan.draw
    charges = [
        {"account": str(kind), "amount": None if units is None else as_decimal(units, kind)}
        for kind, units in plan.charges.items()
    ]
    values = {
        "guarantee": plan.guarantee.to_json(),
        "guarantee_of_a_report": draw.per_report.to_json(),
        "statements": for_guarantee(plan.guarantee, dataset, subject="a round"),
        "charges": charges,
        "expected_error": asdict(draw.expected_error(dataset, plan.data_slice)),
        "least_reports": draw.least_reports,
        "most_reports": draw.most_reports,
        "messages": draw.device.messages,
        "packet_bytes": draw.packet_bytes,
        "dishonest": influence_words(draw),
    }
    return dict(RoundQuoteOut(values).data)
