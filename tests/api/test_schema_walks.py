"""Schemathesis walks: what one answer names (a dataset, an upload, a release) is what it asks for next.

All checks run at every step, as in test_schema.py: no answer of 500 and above, nothing undocumented.
"""

import pytest
from django.db import transaction
from hypothesis import settings as of_hypothesis
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.specs.openapi.checks import ignored_auth

from tests.api.test_schema import (
    ANYWHERE,
    QUIET,
    WHOEVER,
    as_often_as_one_likes,
    headers_of,
    kept_connection,
)

__all__ = ["as_often_as_one_likes", "headers_of", "kept_connection"]

WALKS, STEPS = 20, 12
OPTIONS = {name: value for name, value in QUIET.items() if name != "phases"}


@pytest.mark.long
@pytest.mark.parametrize("name", WHOEVER)
def test_it_answers_as_documented_wherever_a_walk_leads(
    name, headers_of, kept_connection, as_often_as_one_likes, dataset
):
    headers = headers_of(name)
    steps = []

    class Walk(ANYWHERE.as_state_machine()):
        def setup(self):
            """Each walk begins where the first one did, as Hypothesis takes some of them again."""
            super().setup()
            self.start = transaction.savepoint()

        def teardown(self):
            transaction.savepoint_rollback(self.start)
            super().teardown()

        def get_call_kwargs(self, case):
            return {"headers": headers}

        def validate_response(self, response, case, additional_checks=(), **options):
            # That check would count the token, which the schema did not make, as a forged one.
            case.validate_response(
                response, additional_checks=additional_checks, excluded_checks=[ignored_auth], **options
            )

        def after_call(self, response, case):
            steps.append((case.operation.label, response.status_code))

    run_state_machine_as_test(
        Walk, settings=of_hypothesis(max_examples=WALKS, stateful_step_count=STEPS, **OPTIONS)
    )

    assert len(steps) > WALKS
    assert {status // 100 for _, status in steps} >= ({4} if name == "anonymous" else {2, 4})
