"""Budgets: limits, allowances, alerts, spending."""
