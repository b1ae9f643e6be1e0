"""Lets administrators find and read things, and revoke tokens.

People, members and limits change on pages of their own, by the functions that keep the rules and write the
events; nothing of that is edited here.

Nothing here shows counts, uploads, run times or causes of failure: those are data, and administrators
are no stewards.

Django looks for no administration of installed packages (`SimpleAdminConfig`): what is registered here is all
there is. Secrets of second factors, addresses of mail and groups have no pages.
"""

from django.contrib.admin import site

from heatmaps.admin import datasets, files, ledger, people, tokens

__all__ = ["datasets", "files", "ledger", "people", "site", "tokens"]

site.site_header = "Hazemap administration"
site.site_title = "Hazemap administration"
site.index_title = "People, datasets and limits"
