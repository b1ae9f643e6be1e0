"""Persons' records as integers: masses, means, counts."""
