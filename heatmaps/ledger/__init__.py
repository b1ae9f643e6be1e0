"""Keeps the budget ledger: amounts, the releases' state machine, the events' chain and its verification."""
