"""Serves the rounds tab of a dataset whose devices report."""
