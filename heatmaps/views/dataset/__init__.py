"""Serves the list of datasets, and their map and data tabs."""
