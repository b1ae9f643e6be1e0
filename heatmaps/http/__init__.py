"""What every request passes: rate limits, body lengths, caches, health."""
