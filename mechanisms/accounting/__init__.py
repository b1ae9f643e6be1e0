"""Exact privacy accounting: hockey-stick divergences of integer noise."""
