"""Forms of limits, allowances and the ledger."""
