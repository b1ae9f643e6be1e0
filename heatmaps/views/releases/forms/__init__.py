"""Provides forms that ask for a release."""
