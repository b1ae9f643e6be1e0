"""Provides forms of limits, allowances and the ledger."""
