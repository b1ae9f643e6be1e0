"""Provides private heatmap mechanisms: pure functions and values, no web framework, no database."""
