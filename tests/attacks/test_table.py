"""Attacks that were tried and are refused, and the tests that try them.

| attack | tests |
| --- | --- |
| race: many requests at once for what is left | `tests/services/test_races.py`, `tests/services/test_crowd.py` |
| processes killed at every commit, services at random moments | `tests/services/test_kills.py`, `tests/services/test_killed_services.py` |
| random lives with crashes, redeliveries, used keys, clock steps | `tests/services/test_model.py` |
| replay: the same key, the same form, the same task, the same cancellation | `tests/attacks/test_replay.py` |
| late publish by a worker that was declared dead | `tests/releases/test_runs.py`, `tests/releases/test_draws.py` |
| deleting a release, its charge or its history | `tests/attacks/test_deleting.py` |
| editing a limit without the right, with a smaller token, by a forged form | `tests/attacks/test_limits.py` |
| subnormal, huge and oddly written numbers | `tests/attacks/test_numbers.py`, `tests/api/test_request_bodies.py` |
| using an expired reservation | `tests/attacks/test_expired.py` |
| an edited, removed, reordered or inserted event | `tests/ledger/test_verification.py`, `tests/services/test_tampering.py` |
| looking for counts in answers, sizes, headers, files, states, by asking twice | `tests/attacks/test_neighbours.py`, `tests/api/test_secrecy.py`, `tests/pages/test_secrecy.py` |
| guessing passwords and names, locking others out, fetching without end | `tests/pages/test_attempts.py`, `tests/api/test_tokens.py`, `tests/services/test_attempts.py` |
| looking for data in logs and messages | `tests/services/test_logs.py` |
| whatever the API's document allows, and what it does not | `tests/api/test_schema.py` |
"""  # noqa: E501 - a table

import pytest

from tests.named import is_there, named_in


@pytest.mark.parametrize(("path", "name"), named_in(__doc__))
def test_every_test_of_the_table_is_there(path, name):
    assert is_there(path, name)
