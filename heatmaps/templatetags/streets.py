"""Tells templates which streets lie under the maps of forms."""

from django import template

from heatmaps.maps.streets import Streets, streets_of

register = template.Library()


@register.simple_tag
def streets_of_members() -> Streets:
    """Returns the streets of a page that needs an account."""
    return streets_of(public=False)
