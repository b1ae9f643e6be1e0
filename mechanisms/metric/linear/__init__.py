"""Answers linear queries with noise on a lattice (`emd-linear`, `emd-zones`, `emd-distances`)."""
