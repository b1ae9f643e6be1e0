"""Runs memory- or time-consuming work in child processes, with limits and no way to secrets."""
