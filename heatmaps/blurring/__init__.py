"""Blurs each place of a file by itself."""
