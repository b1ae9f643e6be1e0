"""Measures how far one map is from another."""
