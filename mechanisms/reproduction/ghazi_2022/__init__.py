"""Reproduces Ghazi et al. 2022, "Differentially Private Heatmaps"."""
