"""Names the program as this installation calls it."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def program() -> str:
    """Returns `hazemap` where a package was installed, `manage.py` in a checkout."""
    return str(settings.PROGRAM)
