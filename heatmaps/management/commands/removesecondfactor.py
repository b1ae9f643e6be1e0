"""`manage.py removesecondfactor NAME`: lets in somebody who lost a second factor, or whose key is lost."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from heatmaps.people import accounts
from heatmaps.people.refusals import RolesMoved


class Command(BaseCommand):
    help = (
        "Remove the second factor and the recovery codes of an account: its password alone lets in. The "
        "person and every member of their datasets see that it was done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="of the account, exactly")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"there is no account {name!r}; names are case-sensitive")
        if not accounts.has_second_factor(user):
            raise CommandError(f"{name} has no second factor")
        try:
            accounts.remove_second_factor(None, user)
        except RolesMoved as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"{name} signs in with the password alone; all sessions of the account ended")
