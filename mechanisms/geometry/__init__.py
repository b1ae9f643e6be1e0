"""Finite metric spaces: how many places can be told apart, and how near no private answer can come."""
