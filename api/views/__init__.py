"""API views parse, call one function of the product, and answer."""
