"""Help pages, and the manual."""
