"""Builds the facts of events: public values as integers and strings."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from heatmaps.ledger import events
from heatmaps.models import (
    Account,
    Allowance,
    Collection,
    Dataset,
    DataVersion,
    GuideFile,
    Release,
    Restoration,
    Round,
    RowCapacity,
    UserForm,
)
from heatmaps.models.fraction_field import fraction_text

NO_LIMIT: Final = "no limit"
NO_BOUND: Final = "no bound"
EVERYBODY: Final = "everybody"  # stands for the person of the default allowance


class FollowsDefault(Enum):
    """Stands in place of an allowance of one's own."""

    FOLLOWS_DEFAULT = "default"


FOLLOWS_DEFAULT: Final = FollowsDefault.FOLLOWS_DEFAULT
NO_SCHEDULE: Final = "no schedule"
FOR_EVER: Final = "for ever"
ALL_DAYS: Final = "all days"
FOR_MEMBERS, FOR_EVERYBODY = "members", "everybody"  # who may read a release
NOT_PAID_FOR: Final = "the release was not what this ledger says was paid for"  # why nothing was drawn


def dataset_facts(dataset: Dataset) -> dict[str, int | str]:
    """Returns the facts that every charge rests on, and that must never change."""
    box = {name: repr(float(getattr(dataset, name))) for name in ("west", "south", "east", "north")}
    facts: dict[str, int | str] = {"relation": str(dataset.relation), **box}
    stated = {name: getattr(dataset, name) for name in Dataset.STATED}
    facts |= {name: fact for name, fact in stated.items() if fact not in (None, "")}
    if dataset.row_capacity != RowCapacity.HUGE:  # left out, as before there were size classes
        facts["row_capacity"] = dataset.row_capacity
    if dataset.user_form == UserForm.DECIMAL:  # left out, as before, of the forms that there were before
        facts["user_form"] = str(dataset.user_form)
    return facts | dataset.origin.facts(dataset)


def source_facts(dataset: Dataset) -> dict[str, int | str]:
    """Returns the facts of the source that a dataset reads where it is."""
    return {name: getattr(dataset, name) for name in ("source", "source_fingerprint")}


def collection_facts(dataset: Dataset) -> dict[str, int | str]:
    """Returns the hash of a dataset's collection; of one whose row is gone an empty text."""
    collection = Collection.objects.filter(pk=dataset.pk).first()
    return {"collection": "" if collection is None else collection_fact(collection)}


def collection_fact(collection: Collection) -> str:
    """Returns the SHA-256 of who takes which part in a collection, and of what people are asked."""
    names = (
        "question",
        "analyser_operator",
        "analyser_url",
        "shuffler_operator",
        "shuffler_url",
        "open_link",
    )
    text = events.canonical({name: str(getattr(collection, name)) for name in names})
    return hashlib.sha256(text.encode()).hexdigest()


def round_facts(row: Round) -> dict[str, int | str]:
    """Returns a round's facts from its opening on: the text that both roles serve, and what is seen of it."""
    return {
        "facts_sha256": row.facts_sha256,
        "analyser_key": row.analyser_key,
        "shuffler_key": row.shuffler_key,
        "invitations": row.invitations or 0,
        "invitations_sha256": row.invitations_sha256,
        "page_sha384": row.page_sha384,
    }


def moments(release: Release) -> dict[str, int | str]:
    """Returns when a release may begin and when its outcome is told, in microseconds since 1970."""
    return {
        "starts_at": events.microseconds(release.starts_at),
        "visible_at": events.microseconds(release.visible_at),
    }


def release_facts(release: Release) -> dict[str, int | str]:
    """Returns the question and what it promises; the version is bound from here on."""
    guarantee = json.dumps(release.guarantee, sort_keys=True)
    # A δ of 0 is left out, as in events from before there was one.
    delta = {"delta": fraction_text(release.delta)} if release.delta else {}
    grid = {} if release.resolution is None else {"resolution": release.resolution}
    # Left out of the first versions, as in events from before there were others.
    version = {"mechanism_version": release.mechanism_version} if release.mechanism_version > 1 else {}
    return {
        **_data_slice(release),
        **_guide(release),
        **version,
        **grid,
        **delta,
        "mechanism": release.mechanism,
        "epsilon": fraction_text(release.epsilon),
        "question": release.question,
        "version": release.version.number,
        "guarantee": hashlib.sha256(guarantee.encode()).hexdigest(),
        "details": _details(release),
    }


def differences(release: Release, reserved: Mapping[str, int | str]) -> list[str]:
    """Returns the names of facts that a release and the event that reserved it tell differently.

    An event from before there were details has none; its question is hashed from the parameters, too.
    """
    current_facts = release_facts(release)
    if "details" not in reserved:
        del current_facts["details"]
    return sorted(
        name for name in {*current_facts, *reserved} if current_facts.get(name) != reserved.get(name)
    )


def _details(release: Release) -> str:
    """Returns the SHA-256 of what else a release is, whatever way a database spells its numbers."""
    columns = [release.parameters, release.covered, release.expected_error]
    return hashlib.sha256(json.dumps(_plain(columns), sort_keys=True).encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    # PostgreSQL gives a large number without a point back as an integer, and has no -0.
    return repr(float(value) + 0.0) if isinstance(value, float | int) else value


def _data_slice(release: Release) -> dict[str, int | str]:
    """Returns the data slice's facts; none where all is asked about, as in events from before slices."""
    facts: dict[str, int | str] = {}
    if release.since is not None:
        facts["since"] = release.since
    if release.until is not None:
        facts["until"] = release.until
    if release.rectangle is not None:
        facts["within"] = ",".join(map(str, release.rectangle))  # the name is hashed with the events
    return facts


def _guide(release: Release) -> dict[str, int | str]:
    """Returns the guide's facts; none without a guide, as in events from before there were guides."""
    guide = release.guide_release_id or release.guide_file_id
    return {} if guide is None else {"guide": str(guide), "guide_sha256": release.guide_sha256}


def guide_facts(file: GuideFile) -> dict[str, int | str]:
    """Describes a guide file: its origin, what was made of it, and what a map of ours says of itself."""
    sheet = "" if file.sheet is None else json.dumps(file.sheet, sort_keys=True)
    return {
        "guide": str(file.pk),
        "title": file.title,
        "source": file.source,
        "licence": file.licence,
        "file_sha256": file.file_sha256,
        "guide_sha256": file.sha256,
        # Left out of files that have none, as in events from before sheets were read.
        **({"sheet_sha256": hashlib.sha256(sheet.encode()).hexdigest()} if sheet else {}),
    }


def text_matches_columns(row: Round) -> bool:
    """Tells whether the columns of a round are what the text says that devices were served."""
    text_facts = json.loads(row.facts)
    columns = {
        "opens_at": int(row.opens_at.timestamp()),
        "closes_at": int(row.closes_at.timestamp()),
        "reports_per_person": row.reports_per_person,
        "least_honest": row.least_honest,
        "dishonest_share": str(row.dishonest_share),
        "invitations": row.invitations,
        "invitations_sha256": row.invitations_sha256,
    }
    return all(text_facts.get(name) == value for name, value in columns.items())


def batch_facts(row: Round) -> dict[str, int | str]:
    """Returns a round's number of reports and the SHA-256 of their messages; nothing where none came."""
    if row.reports is None:
        return {}
    return {"reports": row.reports, "sha256": row.batch_sha256}


def balances(accounts: Iterable[Account]) -> dict[str, int | str]:
    """Returns the committed amount of each account."""
    return {str(account.kind): NO_BOUND if account.unbounded else account.committed for account in accounts}


def limits(accounts: Iterable[Account]) -> dict[str, int | str]:
    return {str(account.kind): limit_fact(account.limit) for account in accounts}


def limit_fact(limit: int | None) -> int | str:
    return NO_LIMIT if limit is None else limit


def charge_fact(amount: int | None) -> int | str:
    return NO_BOUND if amount is None else amount


def restoration_facts(restoration: Restoration) -> events.Facts:
    """Returns from when on nothing is known, and what was charged for it."""
    charges = {str(row.account.kind): charge_fact(row.amount) for row in restoration.charges.all()}
    return {"known_until": events.microseconds(restoration.known_until), "charges": charges}


def schedule_fact(dataset: Dataset) -> str:
    """Returns when data versions advance by themselves."""
    return dataset.schedule or NO_SCHEDULE


def retention_fact(dataset: Dataset) -> int | str:
    """Returns for how many days check-ins are kept."""
    return FOR_EVER if dataset.retention_days is None else dataset.retention_days


def kept_from_fact(version: DataVersion) -> str:
    """Returns the first day, in UTC, of which a version has check-ins."""
    return ALL_DAYS if version.kept_from is None else version.kept_from.isoformat()


def allowance_facts(account: Account, allowance: Allowance) -> dict[str, int | str]:
    """Returns an allowance: whose, on which account, how much."""
    return {
        "account": str(account.kind),
        "person": EVERYBODY if allowance.person_id is None else allowance.person_id,
        "units": allowance_fact(allowance),
    }


def allowance_fact(allowance: Allowance) -> int | str:
    if allowance.follows_default and allowance.person_id is not None:
        return FOLLOWS_DEFAULT.value
    return limit_fact(allowance.limit)
