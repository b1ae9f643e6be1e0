"""The catalogue of mechanisms."""
