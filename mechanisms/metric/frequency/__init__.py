"""`frequency`: districts and cells, learned from randomised responses."""
