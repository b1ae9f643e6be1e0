"""Releases: requests, quotes, the life of a release, its clock, draws and publication."""
