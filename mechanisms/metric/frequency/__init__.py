"""Learns districts and cells from randomised responses (`frequency`)."""
