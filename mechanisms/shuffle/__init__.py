"""Provides mechanisms that need a shuffler: every bit is mixed with all others before anybody looks."""
