"""Benchmarks: `make bench`. Every figure is a ratio against a named alternative in the same run."""
