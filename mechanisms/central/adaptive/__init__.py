"""Releases maps by a walk with tokens or two rounds of noisy masses, and a posterior (`adaptive`)."""
