"""Audits: lower bounds on what mechanisms really cost."""
