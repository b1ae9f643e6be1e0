"""Reads what home shows a person: cards of datasets, what waits for them, what just finished."""
