"""Keeps district files: public polygons with names, in which released maps are added up."""
