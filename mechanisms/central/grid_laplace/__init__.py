"""`laplace` and `laplace-top`: noise in every cell of a grid."""
