"""Datasets and releases straight in the tables: these tests are about the ledger alone."""

from datetime import timedelta
from fractions import Fraction

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.ledger.amounts import ACCOUNTS
from heatmaps.models import AccountKind, Dataset, DataVersion, Release
from mechanisms.guarantee import Guarantee, Relation

ONE = 10**12  # units of ε 1


@pytest.fixture
def add_version():
    return _add_version


def _add_version(dataset):
    number = dataset.versions.count() + 1
    version = DataVersion.objects.create(dataset=dataset, number=number, created_by=dataset.created_by)
    step = {"before": {"version": number - 1}, "after": {"version": number}}
    transitions.record(dataset, "version", actor=dataset.created_by, **step)
    return version


@pytest.fixture
def steward(db):
    return User.objects.create_user("steward")


@pytest.fixture
def make_dataset(steward):
    """A dataset with an opened ledger; `limits` in units by account, an ε limit of 10 where not said."""

    def make(slug="city", relation=Relation.ADD_REMOVE, **limits):
        facts = {"persons": 50, "radius_m": 500} if relation is Relation.REPLACE else {}
        dataset = Dataset.objects.create(
            slug=slug,
            title="A city",
            west=-98.3,
            south=29.8,
            east=-97.3,
            north=31,
            relation=relation,
            key_fingerprint="0" * 64,
            created_by=steward,
            **facts,
        )
        named = dict.fromkeys(ACCOUNTS[relation], 10 * ONE)
        named |= {AccountKind(kind): limit for kind, limit in limits.items()}
        transitions.open_ledger(dataset, actor=steward, limits=named)
        _add_version(dataset)
        return dataset

    return make


@pytest.fixture
def dataset(make_dataset):
    return make_dataset()


@pytest.fixture
def new_release(steward):
    """An unsaved release of a dataset."""

    def make(dataset, epsilon=1, question="a" * 64):
        guarantee = Guarantee.flat(relation=Relation(dataset.relation), epsilon=Fraction(epsilon))
        return Release(
            dataset=dataset,
            version=dataset.versions.get(),
            requested_by=steward,
            mechanism="laplace",
            epsilon=Fraction(epsilon),
            resolution=16,
            guarantee=guarantee.to_json(),
            question=question,
            expires_at=timezone.now() + timedelta(hours=1),
        )

    return make


@pytest.fixture
def reserve(steward, new_release):
    """A reserved release that costs `amount` units of every ε account and no δ."""

    def make(dataset, amount=ONE, **charges):
        named = {AccountKind(account.kind): amount for account in dataset.accounts.all()}
        named |= {AccountKind.DELTA: 0} | {AccountKind(kind): units for kind, units in charges.items()}
        return transitions.reserve(new_release(dataset), named, actor=steward)

    return make
