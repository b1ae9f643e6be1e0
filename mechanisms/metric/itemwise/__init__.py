"""`emd-itemwise`: sampled check-ins, blurred one by one and shuffled."""
