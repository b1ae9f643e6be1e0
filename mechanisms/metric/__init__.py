"""Protects whole records, the less the farther they move by the earth mover's distance."""
