"""`privtree`: a quadtree that grows where noisy masses are large."""
