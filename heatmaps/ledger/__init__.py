"""The budget ledger: amounts, the state machine of releases, the chain of events and its verification."""
