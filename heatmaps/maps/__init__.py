"""Draws released results for people, and says the same in words and numbers."""
