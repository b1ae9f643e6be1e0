"""Shows the current request's id, also on pages without a context."""

from django import template
from structlog.contextvars import get_contextvars

register = template.Library()


@register.simple_tag
def request_id() -> str:
    """Returns three groups of letters; "" outside of a request."""
    return str(get_contextvars().get("request_id", ""))
