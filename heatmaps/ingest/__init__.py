"""Ingests uploads: received, read in chunks, and made visible in one step."""
