"""Serves published releases to programs that show maps: tiles, and OGC API Features and Coverages."""
