"""Checks the shape of what people type; the product's own functions check the meaning."""
