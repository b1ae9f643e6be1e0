"""Grows a quadtree where noisy masses are large (`privtree`)."""
