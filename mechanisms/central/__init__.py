"""Provides mechanisms that were made for a curator who sees the check-ins."""
