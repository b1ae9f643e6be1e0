"""Pages: a view parses, calls one function and renders."""
