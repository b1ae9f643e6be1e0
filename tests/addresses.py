"""Every address that the product has, by name, and the six persons who may ask for it."""

from django.urls import URLPattern, get_resolver

EVERYBODY = ("steward", "analyst", "auditor", "administrator", "stranger", "anonymous")


def names(resolver=None, namespace=""):
    """(name with its namespace, path) of every pattern; the path stands for one without a name."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name or pattern.pattern}", str(pattern.pattern)
        else:
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from names(pattern, inner)


def by_person(statuses):
    return dict(zip(EVERYBODY, statuses, strict=True))
