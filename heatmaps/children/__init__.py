"""Runs memory- or time-consuming work in limited child processes, at low priority and without secrets."""
