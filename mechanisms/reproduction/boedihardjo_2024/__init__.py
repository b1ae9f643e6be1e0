"""Reproduces Boedihardjo et al. 2024: metric geometry of the privacy-utility tradeoff."""
