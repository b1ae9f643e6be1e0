"""Administration: to find and read things, and to revoke tokens. People, members and limits change on pages
of their own, by the functions that keep the rules and write the events; nothing of that is edited here.

Nothing here shows counts, uploads, run times or causes of failure: those are data, and administrators
are no stewards.
"""

from django.contrib import admin
from django.contrib.auth.models import Group

from heatmaps.admin import datasets, files, ledger, people, tokens
from heatmaps.http.rate_limits import limited_sign_in

__all__ = ["datasets", "files", "ledger", "people", "tokens"]

admin.site.site_header = "Hazemap administration"
admin.site.site_title = "Hazemap administration"
admin.site.index_title = "People, datasets and limits"
admin.site.unregister(Group)  # roles are given per dataset
admin.site.login = limited_sign_in(admin.site.login)  # type: ignore[method-assign, assignment]  # one method of Django's site
