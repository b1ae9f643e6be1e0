"""Runs experiments that may use a seed; nothing here ever releases anything."""
