"""Reproduces Athanasiou et al. 2025: shuffled central points."""
