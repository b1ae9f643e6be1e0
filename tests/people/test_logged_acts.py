"""Acts on accounts are lines of the log: who, on whose account, by numbers; only what was committed."""

import pytest
from django.core.exceptions import PermissionDenied
from django.db import transaction
from structlog.testing import capture_logs

from heatmaps.people import accounts, invitations, password_links
from heatmaps.people.accounts import LastAdministrator


@pytest.fixture
def logged(django_capture_on_commit_callbacks):
    """What an act logs once it is committed."""

    def run(act):
        with capture_logs() as lines, django_capture_on_commit_callbacks(execute=True):
            act()
        return [{name: value for name, value in line.items() if name != "log_level"} for line in lines]

    return run


def test_each_act_is_a_line_with_numbers_only(logged, administrator, people):
    other = people["stranger"]
    other.set_password("stones roll down hills")
    other.save()
    acts = {
        "account.closed": lambda: accounts.close(administrator, other),
        "account.opened": lambda: accounts.reopen(administrator, other),
        "account.administrator": lambda: accounts.set_administrator(
            administrator, other, is_administrator=True
        ),
        "account.no_administrator": lambda: accounts.set_administrator(
            administrator, other, is_administrator=False
        ),
        "account.datasets_allowed": lambda: accounts.allow_datasets(administrator, other, allowed=True),
        "account.datasets_forbidden": lambda: accounts.allow_datasets(administrator, other, allowed=False),
        "account.factor_removed": lambda: accounts.remove_second_factor(administrator, other),
        "account.password_link": lambda: password_links.make(administrator, other),
    }

    told = {event: logged(act) for event, act in acts.items()}

    line = {"by": administrator.pk, "account": other.pk}
    assert told == {event: [{"event": event, **line}] for event in acts}


def test_rules_and_new_accounts_are_lines_too(logged, administrator):
    for allowed, event in ((True, "accounts.sign_up_allowed"), (False, "accounts.sign_up_forbidden")):
        told = logged(lambda allowed=allowed: accounts.allow_sign_up(administrator, allowed=allowed))
        assert told == [{"event": event, "by": administrator.pk}]
    secret = invitations.invite_to_installation(administrator, may_create_datasets=False).secret
    made = []

    for required, event in ((True, "required"), (False, "optional")):
        told = logged(lambda required=required: accounts.require_second_factor(administrator, required))
        assert told == [{"event": f"accounts.second_factor_{event}", "by": administrator.pk}]

    told = logged(lambda: made.append(invitations.sign_up(secret, "grace", "long enough to pass")))

    assert told == [{"event": "account.made", "by": administrator.pk, "account": made[0].pk}]
    again = logged(lambda: accounts.set_password(made[0], "another one to pass", revoke_tokens=False))
    assert again == [{"event": "account.password_changed", "by": made[0].pk, "account": made[0].pk}]


def test_what_was_refused_or_undone_is_no_line(logged, administrator, steward, people):
    def refused():
        with pytest.raises(PermissionDenied):
            accounts.reopen(steward, people["analyst"])
        with pytest.raises(LastAdministrator):
            accounts.close(administrator, administrator)

    def undone():
        with transaction.atomic():
            accounts.close(administrator, people["analyst"])
            transaction.set_rollback(True)

    assert logged(refused) == logged(undone) == []
