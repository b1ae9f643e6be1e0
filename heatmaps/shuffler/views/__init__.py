"""Answers devices and browsers."""
