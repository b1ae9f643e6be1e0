"""What is answered: bodies of datasets, releases and the rest, from what the product's functions found."""

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any
from uuid import UUID

from django.urls import reverse
from rest_framework.request import Request

from api.serializers.datasets import BudgetOut, DatasetOut
from api.serializers.ledger import EventOut
from api.serializers.releases import MechanismOut, QuoteOut, ReleaseOut
from api.serializers.uploads import UploadFacts
from heatmaps import access, queries
from heatmaps.access import Act
from heatmaps.exports import FORMATS
from heatmaps.exports.sheet import exact_text
from heatmaps.ingest import uploads
from heatmaps.ledger.amounts import as_decimal
from heatmaps.ledger.balances import Balance
from heatmaps.models import AccountKind, Charge, Dataset, Event, Release, ReleaseState, Upload, UploadState
from heatmaps.published import SHEET
from heatmaps.quotes import ChargeLine, Quote
from heatmaps.wording.events import event_line
from heatmaps.wording.release import for_guarantee
from mechanisms.catalogue import Entry

Body = Mapping[str, Any]


def address(request: Request, name: str, *arguments: str | UUID) -> str:
    return request.build_absolute_uri(reverse(f"api:{name}", args=arguments))


def dataset(request: Request, found: Dataset) -> Body:
    """Public facts only, whoever asks."""
    parts = ("versions", "releases", "quotes", "budget", "ledger", "uploads", "checkins")
    body = {
        "slug": found.slug,
        "title": found.title,
        "bbox": list(queries.region_of(found)),
        "relation": found.relation,
        "persons": found.persons,
        "radius_m": found.radius_m,
        "expected_persons": found.expected_persons,
        "is_demo": found.is_demo,
        "version": queries.current_version(found),
        "roles": sorted(access.roles(request.user, found)),
        "links": {
            "self": address(request, "dataset", found.slug),
            **{part: address(request, part, found.slug) for part in parts},
        },
    }
    return DatasetOut(body).data


def budget(held: list[Balance]) -> Body:
    return BudgetOut({"accounts": [_account(balance) for balance in held]}).data


def quote(request: Request, found: Dataset, quoted: Quote) -> Body:
    same = quoted.same_release
    body = {
        "guarantee": quoted.guarantee.to_json(),
        "statements": for_guarantee(quoted.guarantee, found, subject="this map"),
        "accounts": [_charge_line(line) for line in quoted.lines],
        "expected_error": None if quoted.expected_error is None else asdict(quoted.expected_error),
        "affordable": quoted.affordable,
        "problem": quoted.problem or None,
        "same_release": None if same is None else address(request, "release", same.pk),
    }
    return QuoteOut(body).data


def release(request: Request, found: Release) -> Body:
    """The state is the public one: when a draw begins and how it fails stays in the ledger."""
    body = {
        "id": found.pk,
        "state": found.public_state,
        "mechanism": found.mechanism,
        "guarantee": found.guarantee,
        "links": _release_links(request, found),
        "version": found.version.number,
        "epsilon": exact_text(Fraction(found.epsilon)),
        "resolution": found.resolution,
        "parameters": found.parameters,
        "charges": _charges(found),
        "expected_error": found.expected_error,
        "requested_at": found.requested_at,
    }
    return ReleaseOut(body).data


def upload(request: Request, found: Upload) -> Body:
    """Data: for stewards only."""
    links = {
        "self": address(request, "upload", found.pk),
        "dataset": address(request, "dataset", found.dataset.slug),
    }
    if uploads.rejected_rows_path(found) is not None:
        links["rejected"] = address(request, "upload-rejected", found.pk)
    if found.state == UploadState.READY and found.version is None:
        links["undo"] = address(request, "upload-undo", found.pk)
    return UploadFacts(found).data | {"links": links}


def event(request: Request, found: Dataset, row: Event) -> Body:
    """As the ledger's page shows it."""
    exact_time = access.may(request.user, found, Act.SEE_DATA)
    return EventOut(asdict(event_line(row, exact_time=exact_time)) | {"kind": row.kind}).data


def mechanism(entry: Entry) -> Body:
    names = ("name", "title", "summary", "kind", "max_resolution")
    body = {name: getattr(entry, name) for name in names}
    body["relations"] = sorted(relation.value for relation in entry.relations)
    body["trust"] = entry.trust.value
    body["parameters"] = [asdict(parameter) for parameter in entry.parameters]
    return MechanismOut(body).data


def _release_links(request: Request, found: Release) -> dict[str, Any]:
    links: dict[str, Any] = {
        "self": address(request, "release", found.pk),
        "dataset": address(request, "dataset", found.dataset.slug),
    }
    if found.state == ReleaseState.PUBLISHED:
        links["sheet"] = address(request, "heatmap", found.pk, SHEET)
        suffixes = [suffix.removeprefix(".") for suffix in FORMATS]
        links["heatmap"] = {suffix: address(request, "heatmap", found.pk, suffix) for suffix in suffixes}
    elif found.public_state == "queued":
        links["cancel"] = address(request, "release-cancel", found.pk)
    return links


def _account(balance: Balance) -> Body:
    kind = balance.kind
    return {
        "account": kind.value,
        "limit": _amount(balance.limit, kind),
        "spent": None if balance.unbounded else as_decimal(balance.spent, kind),
        "reserved": as_decimal(balance.reserved, kind),
        "available": _amount(balance.available, kind),
    }


def _charge_line(line: ChargeLine) -> Body:
    return {
        "account": line.kind.value,
        "amount": _amount(line.amount, line.kind),
        "limit": _amount(line.limit, line.kind),
        "available": _amount(line.available, line.kind),
        "affordable": line.affordable,
    }


def _charges(found: Release) -> list[Body]:
    rows = Charge.objects.filter(release=found).select_related("account").order_by("account")
    kinds = [(AccountKind(row.account.kind), row.amount) for row in rows]
    return [{"account": kind.value, "amount": _amount(amount, kind)} for kind, amount in kinds]


def _amount(units: int | None, kind: AccountKind) -> str | None:
    return None if units is None else as_decimal(units, kind)
