"""Serves help pages, and the manual."""
