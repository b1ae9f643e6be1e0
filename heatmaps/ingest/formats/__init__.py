"""Reads files of check-ins: formats, columns, previews, and the child that reads them."""
