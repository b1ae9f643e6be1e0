"""Releases centres and their areas (`k-median`)."""
