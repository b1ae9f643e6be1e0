"""Provides forms of accounts and of signing in."""
