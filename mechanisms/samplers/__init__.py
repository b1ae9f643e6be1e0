"""Samples one distribution a file: a random source in, integers out."""
