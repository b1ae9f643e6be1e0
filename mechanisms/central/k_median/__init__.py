"""`k-median`: centres and their areas."""
