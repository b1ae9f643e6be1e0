"""Regions, grids, subregions and shapes on the ground."""
