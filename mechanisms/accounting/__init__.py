"""Accounts exactly for privacy: hockey-stick divergences of integer noise."""
