"""Words for people what a guarantee promises and what an event of the ledger says."""
