"""What events say about datasets, accounts and releases: public facts as integers and strings."""

import hashlib
import json
from collections.abc import Iterable
from typing import Final

from heatmaps.models import Account, Dataset, Release

NO_LIMIT: Final = "no limit"
NO_BOUND: Final = "no bound"


def dataset_facts(dataset: Dataset) -> dict[str, int | str]:
    """The facts that every charge rests on, and that must never change."""
    box = {name: repr(float(getattr(dataset, name))) for name in ("west", "south", "east", "north")}
    facts: dict[str, int | str] = {"relation": str(dataset.relation), **box}
    if dataset.radius_m is not None:
        facts["radius_m"] = dataset.radius_m
    if dataset.persons is not None:
        facts["persons"] = dataset.persons
    return facts


def release_facts(release: Release) -> dict[str, int | str]:
    """The question and what it promises; the version is bound from here on."""
    guarantee = json.dumps(release.guarantee, sort_keys=True)
    return {
        "mechanism": release.mechanism,
        "epsilon": release.epsilon,
        "resolution": release.resolution,
        "question": release.question,
        "version": release.version.number,
        "guarantee": hashlib.sha256(guarantee.encode()).hexdigest(),
    }


def balances(accounts: Iterable[Account]) -> dict[str, int | str]:
    """What is committed on each account."""
    return {str(account.kind): NO_BOUND if account.unbounded else account.committed for account in accounts}


def limits(accounts: Iterable[Account]) -> dict[str, int | str]:
    return {str(account.kind): limit_fact(account.limit) for account in accounts}


def limit_fact(limit: int | None) -> int | str:
    return NO_LIMIT if limit is None else limit


def charge_fact(amount: int | None) -> int | str:
    return NO_BOUND if amount is None else amount
