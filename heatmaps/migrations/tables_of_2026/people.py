"""Accounts, links that work once, tokens."""

from django.db import models
from django.db.models import CASCADE, Q

from heatmaps.migrations.tables_of_2026.columns import (
    ROLES,
    USER,
    check,
    digest,
    extends,
    key,
    made,
    moment,
    random_name,
    table,
)

TABLES = [
    table(
        "Profile",
        {
            "user": extends(USER, "profile", CASCADE),
            "may_create_datasets": models.BooleanField(default=False),
        },
    ),
    table(
        "PeopleRules",
        {"sign_up_by_invitation": models.BooleanField(default=False)},
        constraints=[check("one_row_of_people_rules", Q(pk=1))],
    ),
    table(
        "OneTimeLink",
        {
            "id": random_name(),
            "purpose": models.CharField(
                max_length=16, choices=[("invitation", "invitation"), ("reset", "new password")]
            ),
            "digest": digest(unique=True),
            "dataset": key("heatmaps.dataset", "invitations", null=True),
            "role": models.CharField(max_length=16, choices=ROLES, blank=True),
            "may_create_datasets": models.BooleanField(default=False),
            "reason": models.CharField(max_length=500, blank=True),
            "account": key(USER, null=True),
            "made_by": key(USER),
            "created_at": made(),
            "expires_at": models.DateTimeField(),
            "used_at": models.DateTimeField(null=True),
            "used_by": key(USER, null=True),
            "revoked_at": models.DateTimeField(null=True),
        },
        ordering=["-created_at"],
        constraints=[
            check(
                "link_has_what_its_purpose_needs",
                Q(purpose="reset", account__isnull=False, dataset=None, role="")
                | Q(
                    purpose="invitation",
                    account=None,
                    dataset__isnull=False,
                    role__in=["steward", "analyst", "auditor"],
                )
                | Q(purpose="invitation", account=None, dataset=None, role=""),
            )
        ],
    ),
    table(
        "ApiToken",
        {
            "digest": models.CharField(max_length=128, primary_key=True, serialize=False),
            "token_key": models.CharField(max_length=25, db_index=True),
            "user": key(USER, "auth_token_set", CASCADE),
            "created": made(),
            "expiry": moment(),
            "name": models.CharField(max_length=80),
            "scopes": models.JSONField(default=list),
        },
        abstract=False,
    ),
]
