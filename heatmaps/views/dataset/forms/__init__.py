"""Provides forms of datasets and their data."""
