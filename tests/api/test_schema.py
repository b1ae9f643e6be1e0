"""Schemathesis asks the API everything its OpenAPI document allows, and much that it does not.

Every operation is asked with valid and invalid values, with addresses that exist and addresses that do not.
By a steward, an analyst, an auditor and somebody without a token. All checks run: no answer of 500 and above,
no undocumented status, header, type or body, nothing accepted that the document forbids, nothing refused as
ill-formed that it allows.
"""

import json
from functools import cache
from uuid import UUID
from zlib import crc32

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase
from hypothesis import settings as of_hypothesis
from rest_framework.throttling import SimpleRateThrottle
from schemathesis.config import SchemathesisConfig

from api.parsers import NDJSON
from api.views import docs
from heatmaps.models import Release, Upload
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.services import seed
from tests.services.draws import carry_out


@schemathesis.serializer(
    *("application/gzip", "application/x-gzip", "application/vnd.apache.parquet", NDJSON),
    "application/geo+json",
)
def as_it_is(_context, value):
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


WHOEVER = ("steward", "analyst", "auditor", "anonymous")
USUAL_CASES = 4
LONG_CASES = 12
QUIET = {
    "database": None,
    "deadline": None,
    "derandomize": True,
    "phases": [Phase.explicit, Phase.generate],
    "suppress_health_check": list(HealthCheck),
}
NAMED = {
    "path.slug": "city",
    "path.release_id": "11111111-1111-4111-8111-111111111111",
    "path.upload_id": "22222222-2222-4222-8222-222222222222",
    "path.file_id": "33333333-3333-4333-8333-333333333333",
    "query.districts": "33333333-3333-4333-8333-333333333333",
    "path.account_id": 1,
    "header.If-Match": "*",
}


def document(parameters, *, corners=True):
    """As the server hands it out (test_document.py); `parameters` have these values and no others.

    corners: also asks what the document names as examples, bounds and what is beyond them.
    """
    config = SchemathesisConfig.from_dict(
        {
            "parameters": parameters,
            "phases": {name: {"enabled": corners} for name in ("coverage", "examples")},
            # NUL is refused in every text (test_bodies.py); the test itself sends the token.
            "generation": {
                "deterministic": True,
                "database": "none",
                "allow-x00": False,
                "with-security-parameters": False,
            },
            "checks": {
                # Well formed, and refused for what it says: the document cannot tell beforehand.
                "positive_data_acceptance": {
                    "expected-statuses": ["2xx", "401", "403", "404", "409", "412", "422"]
                },
                "missing_required_header": {"expected-statuses": ["401", "403", "404", "428"]},
            },
        }
    )
    # Not asked for: the server looks into its database before any answer, and a module has none.
    loaded = schemathesis.openapi.from_dict(json.loads(docs.document()), config=config)
    loaded.app, loaded.location = get_wsgi_application(), "/api/schema/"
    return loaded


ANYWHERE, SOMEWHERE = document({}), document(NAMED)
# Corners are asked for once: working them out takes longer than asking.
SOMEWHERE_BY_CHANCE = document(NAMED, corners=False)


@pytest.fixture
def kept_connection():
    """Requests leave the connection of the test's transaction alone, as those of Django's test client do."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def as_often_as_one_likes(monkeypatch, settings):
    """Nobody is told to wait."""
    monkeypatch.setattr(
        SimpleRateThrottle, "THROTTLE_RATES", dict.fromkeys(SimpleRateThrottle.THROTTLE_RATES)
    )
    settings.MOST_A_MINUTE = dict.fromkeys(settings.MOST_A_MINUTE, 1_000_000)


@pytest.fixture
def headers_of(token_of):
    """What somebody sends with every request, by name."""

    @cache
    def made(name):
        return {} if name == "anonymous" else {"Authorization": f"Bearer {token_of(name)}"}

    return made


@pytest.fixture
def ask(headers_of, kept_connection, as_often_as_one_likes):
    """Sends a case as somebody who follows from what it asks, so that it can be asked again."""

    def send(case):
        asked = repr((case.path_parameters, case.query, case.headers, case.body))
        case.call_and_validate(headers=headers_of(WHOEVER[crc32(asked.encode(errors="replace")) % 4]))

    return send


@pytest.fixture
def city(people, dataset, question, monkeypatch):
    """What `NAMED` names: a dataset, a district file, an upload and a published release."""
    seed.store_districts(people["steward"], dataset, file_id=UUID(NAMED["path.file_id"]))
    Upload.objects.create(
        id=UUID(NAMED["path.upload_id"]),
        dataset=dataset,
        uploaded_by=people["steward"],
        file_name="more.csv",
        size_bytes=1,
        content_digest="",
    )
    with monkeypatch.context() as patched:
        patched.setattr(Release._meta.get_field("id"), "_get_default", lambda: UUID(NAMED["path.release_id"]))
        made = lifecycle.request_release(people["analyst"], dataset, ReleaseRequest(**question()))
    carry_out(made.pk)


@SOMEWHERE.parametrize()
@of_hypothesis(max_examples=USUAL_CASES, **QUIET)
def test_it_answers_as_documented_about_a_dataset(case, ask, city):
    ask(case)


@pytest.mark.long
@ANYWHERE.parametrize()
@of_hypothesis(max_examples=LONG_CASES, **QUIET)
def test_it_answers_as_documented_whatever_is_asked(case, ask):
    ask(case)


@pytest.mark.long
@SOMEWHERE_BY_CHANCE.parametrize()
@of_hypothesis(max_examples=LONG_CASES, **QUIET)
def test_it_answers_as_documented_about_a_dataset_for_long(case, ask, city):
    ask(case)
