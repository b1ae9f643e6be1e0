"""Offers tags and filters to templates."""
