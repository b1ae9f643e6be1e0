"""Reproduces Imola et al. 2024: metric differential privacy at the user level."""
