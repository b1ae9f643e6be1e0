"""What a request says of its body before any of it is read."""

from django.http import HttpRequest


def body_length(request: HttpRequest) -> int:
    """Bytes; 0 where it says nothing."""
    text = request.META.get("CONTENT_LENGTH") or "0"
    return int(text) if text.isascii() and text.isdigit() else 0
