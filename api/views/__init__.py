"""Views parse, call one function of the product, answer."""
