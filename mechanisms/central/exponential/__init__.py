"""Releases one central point from a net of candidates (`exponential`)."""
