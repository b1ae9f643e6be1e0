"""Keeps guides of maps: what is public already about where people are."""
