"""Finds ε: for an error, for protection goals, that fits a budget."""
