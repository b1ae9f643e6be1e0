"""Aggregates sparsely under the earth mover’s distance (`sparse-emd`)."""
