"""Stands where the tests' own pandas would be: an installation has none, and loading it takes CPU."""

raise ImportError("an installation has no pandas")
