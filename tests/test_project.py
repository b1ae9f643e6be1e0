"""The project's own rules."""

import pytest
from django.core.management import call_command


def test_it_passes_djangos_checks():
    call_command("check", fail_level="WARNING")


@pytest.mark.django_db  # the check also reads which migrations were applied
def test_it_has_no_missing_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
