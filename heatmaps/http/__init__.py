"""Checks what every request passes: rate limits, body lengths, caches, health."""
