"""Ends what a restored database brought back to life: ways in, and what everybody could read."""

from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import Q
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.ledger.facts import FOR_EVERYBODY, FOR_MEMBERS
from heatmaps.ledger.transitions.moves import PUBLICATION
from heatmaps.models import ApiToken, Dataset, Invitation, PasswordLink, Release
from heatmaps.people import accounts
from heatmaps.people.embedding import EMBEDDING, NOWHERE


def end_ways_in() -> None:
    """Sessions, links, invitations, tokens, second factors and passwords of before let nobody in.

    Each of them may have been ended since the backup. Tokens stay in their lists, expired. The caller's
    transaction is open.
    """
    now = timezone.now()
    Session.objects.all().delete()
    Invitation.objects.filter(used_at=None, revoked_at=None).update(revoked_at=now)
    ApiToken.objects.update(expiry=now)
    EmailConfirmation.objects.all().delete()
    EmailAddress.objects.update(verified=False)  # one that was replaced gets no link for a password
    Authenticator.objects.all().delete()
    SocialAccount.objects.all().delete()
    User.objects.update(password=make_password(None))
    PasswordLink.objects.all().delete()
    accounts.note("accounts.ended_by_restore", None)


def hide(dataset: Dataset) -> None:
    """Hides all of a dataset, from websites too, until a steward says so again."""
    with transitions.locked(dataset.pk):
        is_visible = Q(public_since__isnull=False) | Q(publication__is_public=True)
        for pk in list(Release.objects.filter(is_visible, dataset=dataset).values_list("pk", flat=True)):
            Release.objects.filter(pk=pk).update(public_since=None, is_name_public=False)
            after = {"shown_release": str(pk), "readable_by": FOR_MEMBERS}
            before = {"readable_by": FOR_EVERYBODY}
            transitions.record(dataset, PUBLICATION, actor=None, before=before, after=after)
        if dataset.embed_origins:
            before = {"embedded_by": ", ".join(dataset.embed_origins)}
            Dataset.objects.filter(pk=dataset.pk).update(embed_origins=[])
            after = {"embedded_by": NOWHERE}
            transitions.record(dataset, EMBEDDING, actor=None, before=before, after=after)
