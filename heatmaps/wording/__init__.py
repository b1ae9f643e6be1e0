"""Words for people: what a guarantee promises, what an event of the ledger says."""
