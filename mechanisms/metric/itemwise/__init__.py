"""Releases sampled check-ins, blurred one by one and shuffled (`emd-itemwise`)."""
