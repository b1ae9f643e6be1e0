"""`emd-linear`, `emd-zones`, `emd-distances`: linear queries with noise on a lattice."""
