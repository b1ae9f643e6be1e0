"""Forms of datasets and their data."""
