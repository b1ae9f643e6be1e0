"""The demo: a synthetic city, its two datasets, accounts and one release, all through the real paths."""
