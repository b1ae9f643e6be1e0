"""Serves the budget tab of a dataset: limits, allowances, spending, ledger."""
