"""Holds released results: maps, areas, points, zones, distances, and their bytes."""
