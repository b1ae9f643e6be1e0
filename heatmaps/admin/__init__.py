"""Lets administrators find and read things, and revoke tokens.

People, members and limits change on pages of their own, by the functions that keep the rules and write the
events; nothing of that is edited here.

Nothing here shows counts, uploads, run times or causes of failure: those are data, and administrators
are no stewards.
"""

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group

from heatmaps.admin import datasets, files, ledger, people, tokens

__all__ = ["datasets", "files", "ledger", "people", "tokens"]

admin.site.site_header = "Hazemap administration"
admin.site.site_title = "Hazemap administration"
admin.site.index_title = "People, datasets and limits"
admin.site.unregister(Group)  # roles are given per dataset
for _app in apps.get_app_configs():
    if _app.name.startswith("allauth."):  # secrets of second factors, and addresses: nobody reads those here
        admin.site.unregister(model for model in _app.get_models() if admin.site.is_registered(model))
