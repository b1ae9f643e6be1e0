"""What is answered: bodies of datasets, releases and the rest, from what the product's functions found."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any
from uuid import UUID

from django.urls import reverse
from rest_framework.request import Request

from api import budgets
from api.serializers.datasets import BudgetOut, DatasetOut
from api.serializers.ledger import EventOut
from api.serializers.releases import MechanismOut, QuoteOut, ReleaseOut
from api.serializers.uploads import UploadFacts
from heatmaps import access, queries
from heatmaps.access import Act
from heatmaps.alerts import Alert
from heatmaps.exports import FORMATS_OF
from heatmaps.exports.sheet import exact_text
from heatmaps.forecasts import Forecast
from heatmaps.ingest import uploads
from heatmaps.ledger.amounts import as_decimal
from heatmaps.ledger.balances import Balance
from heatmaps.masses import packing
from heatmaps.masses.packing import CopyState
from heatmaps.models import AccountKind, Charge, Dataset, Event, Release, ReleaseState, Upload, UploadState
from heatmaps.published import RESULT_NAMES, SHEET, kind_of
from heatmaps.quotes import ChargeLine, Quote, asked_of
from heatmaps.schedules import Schedule
from heatmaps.slices import Slice, moment_or_none
from heatmaps.wording.events import event_line
from heatmaps.wording.release import for_guarantee, result_word
from mechanisms.catalogue import Entry

Body = Mapping[str, Any]


def address(request: Request, name: str, *arguments: str | UUID) -> str:
    return request.build_absolute_uri(reverse(f"api:{name}", args=arguments))


def dataset(request: Request, found: Dataset) -> Body:
    """Public facts only, whoever asks."""
    parts = (
        *("versions", "releases", "quotes", "budget", "ledger", "uploads", "checkins", "opt-outs"),
        *("members", "invitations", "allowances", "spending"),
    )
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
        "schedule": schedule(found),
        "next_version_at": found.next_version_at,
        "retention_days": found.retention_days,
        "roles": sorted(access.roles(request.user, found)),
        "links": {
            "self": address(request, "dataset", found.slug),
            **{part.replace("-", "_"): address(request, part, found.slug) for part in parts},
        },
    }
    return DatasetOut(body).data


def schedule(found: Dataset) -> Body | None:
    """As it is sent."""
    rule = Schedule.parse(found.schedule)
    if rule is None:
        return None
    return {name: value for name, value in asdict(rule).items() if value is not None}


def budget(held: list[Balance], found: Sequence[Alert]) -> Body:
    accounts = [_account(balance) for balance in held]
    return BudgetOut({"accounts": accounts, "alerts": budgets.alerts(found)}).data


def quote(request: Request, found: Dataset, quoted: Quote, more: Forecast, largest_epsilon: str) -> Body:
    same = quoted.same_release
    body = {
        **_part(quoted.asked, found),
        "epsilon": exact_text(Fraction(quoted.request.epsilon)),
        "delta": exact_text(quoted.delta),
        "guarantee": quoted.guarantee.to_json(),
        "on_devices": None if quoted.on_devices is None else quoted.on_devices.to_json(),
        "statements": for_guarantee(
            quoted.guarantee, found, subject=f"this {result_word(quoted.request.mechanism)}"
        ),
        "accounts": [_charge_line(line) for line in quoted.lines],
        "expected_error": None if quoted.expected_error is None else asdict(quoted.expected_error),
        "affordable": quoted.affordable,
        "problem": quoted.problem or None,
        "largest_epsilon": largest_epsilon or None,
        "same_release": None if same is None else address(request, "release", same.pk),
        "more_like_this": budgets.forecast(more),
    }
    return QuoteOut(body).data


def release(request: Request, found: Release, *, outsider: bool = False) -> Body:
    """The state is the public one: when a draw begins and how it fails stays in the ledger.

    outsider: somebody reads it only because it is public, and is told nothing else of its dataset.
    """
    body = {
        "id": found.pk,
        "state": found.public_state,
        "mechanism": found.mechanism,
        "guarantee": found.guarantee,
        "links": _release_links(request, found, outsider=outsider),
        "version": found.version.number,
        "epsilon": exact_text(Fraction(found.epsilon)),
        "delta": exact_text(Fraction(found.delta)),
        "resolution": found.resolution,
        "parameters": found.parameters,
        **_part(asked_of(found), found.dataset),
        "charges": [] if outsider else _charges(found),
        "expected_error": found.expected_error,
        "public": found.public_since is not None,
        "requested_at": found.requested_at,
        "expires_at": found.expires_at if found.public_state == "queued" else None,
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
    copy = packing.copy_state(found)
    if copy is CopyState.GIVEN_UP:
        links["copy"] = address(request, "upload-copy", found.pk)
    return UploadFacts(found).data | {"copy": copy.value, "links": links}


def event(request: Request, found: Dataset, row: Event) -> Body:
    """As the ledger's page shows it."""
    exact_time = access.may(request.user, found, Act.SEE_DATA)
    return EventOut(asdict(event_line(row, exact_time=exact_time)) | {"kind": row.kind}).data


def mechanism(entry: Entry) -> Body:
    names = ("name", "title", "summary", "kind", "max_resolution", "usual_delta")
    body = {name: getattr(entry, name) for name in names}
    body["relations"] = sorted(relation.value for relation in entry.relations)
    body["trust"] = entry.trust.value
    body["parameters"] = [asdict(parameter) for parameter in entry.parameters]
    return MechanismOut(body).data


def _part(asked: Slice, found: Dataset) -> Body:
    region = None if asked.part is None else asked.region(queries.region_of(found))
    return {
        "since": moment_or_none(asked.since),
        "until": moment_or_none(asked.until),
        "within": None if region is None else list(region),
    }


def _release_links(request: Request, found: Release, *, outsider: bool) -> dict[str, Any]:
    links: dict[str, Any] = {"self": address(request, "release", found.pk)}
    if not outsider:
        links["dataset"] = address(request, "dataset", found.dataset.slug)
    if found.state == ReleaseState.PUBLISHED:
        name = RESULT_NAMES[kind_of(found)]
        links["sheet"] = address(request, name, found.pk, SHEET)
        suffixes = [suffix.removeprefix(".") for suffix in FORMATS_OF[kind_of(found)]]
        links[name] = {suffix: address(request, name, found.pk, suffix) for suffix in suffixes}
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
