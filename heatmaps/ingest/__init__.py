"""Uploads: a file is received, read in chunks under its upload, and becomes visible in one step."""
