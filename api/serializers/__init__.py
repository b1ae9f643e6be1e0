"""Checks the shape of requests and describes answers; the product checks the meaning."""
