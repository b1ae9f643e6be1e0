"""Administration: people, memberships, tokens and limits. What the ledger holds can be read, never edited.

Nothing here shows counts, uploads, run times or causes of failure: those are data, and administrators
are no stewards.
"""

from django.contrib import admin
from django.contrib.auth.models import Group

from heatmaps.admin import datasets, ledger, tokens

__all__ = ["datasets", "ledger", "tokens"]

admin.site.site_header = "Hazemap administration"
admin.site.site_title = "Hazemap administration"
admin.site.index_title = "People, datasets and limits"
admin.site.unregister(Group)  # roles are given per dataset
