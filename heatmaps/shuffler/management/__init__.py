"""Provides the operator's commands."""
