"""Leads a round from its plan to its end; every step may be killed at any moment and be run again."""
