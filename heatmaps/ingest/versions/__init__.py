"""Advances data versions, by schedule too, and keeps and deletes them."""
