"""Adds noise in every cell of a grid (`laplace` and `laplace-top`)."""
